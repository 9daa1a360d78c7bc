// Lesson 3: fairness at a shared bottleneck, and coupled congestion control.
import { openPanel, runUntil } from "./tasks";
import type { Lesson } from "./types";

export const fairness: Lesson = {
  id: "fairness",
  title: "Fairness: how much may two subflows take?",
  sentence: "A shared bottleneck, uncoupled and coupled congestion control (LIA).",
  steps: [
    {
      title: "Two subflows, one bottleneck",
      text: [
        "A phone has two links, and a laptop has one. All three lead to one router. Behind it is a single link of 12 Mb/s: the **bottleneck**.",
        "The phone has an MPTCP connection with two subflows. The laptop has one plain TCP connection. All of them are long transfers.",
        "In this run, each subflow uses Reno, the classic congestion control of TCP, without knowing about the other subflow.",
      ],
      setup: { scene: "uncoupled", speed: 3, panels: ["goodput", "cwnd", "limits"], tab: "why" },
      tasks: [runUntil(20)],
      question: {
        text: "How do the two users share the 12 Mb/s?",
        choices: [
          { text: "Half and half.", feedback: "Compare the means on the cards of the two flows." },
          {
            text: "The MPTCP user gets clearly more, almost two thirds.",
            right: true,
            feedback:
              "Right: about 7.1 Mb/s against 4.3 Mb/s after the first ten seconds. At the bottleneck there are three similar TCP flows, and two of them belong to the phone.",
          },
          { text: "The TCP user gets more.", feedback: "Compare the means on the cards of the two flows." },
        ],
      },
    },
    {
      title: "Why TCP flows share equally",
      text: [
        "Look at the congestion windows. Each one grows by about one segment per RTT, and halves after a loss. This is **AIMD**: additive increase, multiplicative decrease.",
        "The losses come from the queue of the bottleneck, which is full from time to time. Open the plot **Queues** if it is closed.",
        "Two flows with the same RTT and the same losses get about the same rate. So n subflows get about n shares.",
      ],
      tasks: [openPanel("queue", "Queues")],
      question: {
        text: "A phone opens five uncoupled subflows over this bottleneck, against one TCP flow. Which share does it get, roughly?",
        choices: [
          { text: "1/2", feedback: "Then the subflows would have to know of each other." },
          {
            text: "5/6",
            right: true,
            feedback: "Right: five of six similar flows. Anybody could take capacity of others by opening more subflows.",
          },
          { text: "1/5", feedback: "This would be less than one flow gets." },
        ],
      },
    },
    {
      title: "The goals of coupled control",
      text: [
        "RFC 6356 names three goals for Multipath TCP.",
        "**Improve throughput**: a connection gets at least as much as a single TCP flow on its best path. **Do no harm**: it takes no more of a shared resource than a single flow would. **Balance congestion**: it moves traffic away from its most congested paths.",
        "So the increase of each window depends on **all** subflows: the congestion control is **coupled**.",
      ],
      question: {
        text: "Which goal did the run of the first step violate?",
        choices: [
          { text: "Improve throughput", feedback: "The MPTCP flow got more than a single flow. Its throughput is not the problem." },
          {
            text: "Do no harm",
            right: true,
            feedback: "Right. It took more of the bottleneck than one TCP flow would have, at the cost of the laptop.",
          },
        ],
      },
    },
    {
      title: "LIA",
      text: [
        "The **linked increases algorithm** (LIA, RFC 6356) limits the increase. For each acknowledged byte on subflow i, its window grows by the smaller of `alpha × MSS / total window` and `MSS / window i` bytes. The factor alpha follows from the windows and RTTs of all subflows.",
        "After a loss, the window of the subflow halves, as with TCP.",
        "The same network with LIA.",
      ],
      setup: { scene: "coupled", speed: 3, panels: ["goodput", "cwnd", "queue", "limits"], tab: "why" },
      tasks: [runUntil(30)],
      question: {
        text: "How do the two users share the bottleneck now?",
        choices: [
          {
            text: "About half and half.",
            right: true,
            feedback:
              "Right. Each user gets between 5 and 6 Mb/s after the first seconds. Both subflows together behave about like one TCP flow.",
          },
          { text: "The phone still gets two thirds.", feedback: "Look at the goodput after the first ten seconds: slow start is over then." },
          { text: "The phone gets one third.", feedback: "Its two subflows together count, not each alone." },
        ],
      },
    },
    {
      title: "More aggressive: CUBIC",
      text: [
        "CUBIC is the default of Linux for plain TCP. After a loss, it keeps 70% of its window, and Reno keeps 50%. On fast paths with a long RTT, its window also grows faster than that of Reno. On this path, with an RTT of about 60 ms, it grows about as fast (RFC 9438, section 4.3).",
        "Here all three flows use CUBIC, again without coupling.",
      ],
      setup: { scene: "uncoupled-cubic", speed: 3, panels: ["goodput", "cwnd", "queue", "limits"], tab: "why" },
      tasks: [runUntil(20)],
      question: {
        text: "Does CUBIC solve the problem of fairness between users?",
        choices: [
          {
            text: "No: the phone still gets about two thirds.",
            right: true,
            feedback: "Right, about twice as much as the laptop. Similar flows share equally, whatever their algorithm. Only coupling makes a connection count as one flow.",
          },
          { text: "Yes, because CUBIC is fairer.", feedback: "Look at the cards: the phone still gets about twice as much." },
        ],
      },
    },
    {
      title: "Change the setting yourself",
      text: [
        "In the card of **mptcp** under *Why*, open **Settings of mptcp**, and choose `lia` as congestion control.",
        "Run the scenario until 18 s first. The page writes the change into the scenario, as an event at the present time. The laptop keeps CUBIC.",
        "Then let the run go on. In the 20 s after the change, the phone gets 5 to 6 Mb/s in the mean, and the laptop 5.5 to 6.5 Mb/s. Single moments differ much more. Look at the curves after 18 s: the means on the cards still contain the time before the change.",
      ],
      setup: { scene: "uncoupled-cubic", speed: 2, panels: ["goodput", "cwnd", "queue", "limits"], tab: "why" },
      tasks: [
        runUntil(18),
        {
          text: "Choose lia as congestion control of the flow mptcp.",
          done: (progress) =>
            progress.actions.some((action) => action.kind === "policy" && action.flow === "mptcp" && action.congestion === "lia"),
        },
        runUntil(38),
      ],
    },
    {
      title: "When paths are disjoint",
      text: [
        "If the subflows share no bottleneck, there is nothing to be fair about: each one may use its own path fully. This is the network of DSL and LTE.",
        "LIA as in RFC 6356 couples all subflows, even in this case. By default, mptcplab couples only paths whose queueing delays indicate a shared bottleneck (`coupling_scope = \"shared\"`). The scenarios before this step set `\"all\"`.",
      ],
      setup: { scene: "two-links", speed: 3, panels: ["goodput", "cwnd", "limits", "rtt"], tab: "why" },
      tasks: [runUntil(12)],
      question: {
        text: "Two subflows over disjoint links, with no other users. What should they reach?",
        choices: [
          { text: "As much as one TCP flow on the better link.", feedback: "This would waste the other link, without any use for others." },
          {
            text: "About the sum of both links.",
            right: true,
            feedback: "Right. Nobody else uses these links. In this run, both together reach about 22 Mb/s, close to the sum of plain TCP over each.",
          },
        ],
      },
    },
    {
      title: "Summary",
      text: [
        "TCP flows at one bottleneck get similar rates. Uncoupled subflows count as one flow each, so a connection with n subflows takes about n shares.",
        "Coupled congestion control (LIA, OLIA, BALIA) limits all subflows together to about the share of one TCP flow, and moves traffic to less congested paths.",
        "Compare `lia` with `olia` in the scene **J: LIA and OLIA next to TCP** of the gallery.",
      ],
      question: {
        text: "Which sentence is right?",
        choices: [
          {
            text: "Coupling limits the rate of a connection at a shared bottleneck, not the number of its subflows.",
            right: true,
            feedback: "Right. With coupling, opening more subflows brings no advantage at a shared bottleneck.",
          },
          { text: "Coupling gives all subflows the same congestion window.", feedback: "Windows may differ a lot. On a more congested path, the window is smaller." },
          { text: "Coupling needs help from the router.", feedback: "Only the sender computes it, from its own windows and RTTs." },
        ],
      },
    },
  ],
};
