// Lesson 1: a connection that survives the failure of its links.
import { openPanel, plugIn, runUntil, unplug } from "./tasks";
import type { Lesson } from "./types";

export const handoff: Lesson = {
  id: "handoff",
  title: "Handoff: a connection that outlives its links",
  sentence: "Unplug links under a running transfer, and learn how MPTCP notices and moves the data.",
  steps: [
    {
      title: "One connection, three links",
      text: [
        "The client on the left has three links to the server: **ethernet** with 10 Mb/s, **wifi** with 4 Mb/s and some loss, and **3g** with 2 Mb/s and a long delay.",
        "One program sends one stream of bytes. Multipath TCP splits it into **subflows**, one TCP connection per path. Each dot is a packet, and its colour is that of its path.",
        "The dotted curves of the goodput plot show plain TCP over each link alone.",
      ],
      setup: { scene: "three-links", speed: 1, panels: ["goodput", "limits", "cwnd", "rtt"], span: 20, tab: "why" },
      tasks: [runUntil(4)],
    },
    {
      title: "Together",
      text: [
        "Slow start makes the first seconds uneven: 3G fills its long queue, and newer data has to wait for it. Press Play, and look at the black curve of the goodput plot after that. The three subflows together reach almost the sum of what plain TCP gets over each link.",
      ],
      tasks: [runUntil(14)],
      question: {
        text: "The links have 10, 4 and 2 Mb/s. Why is the goodput somewhat below 16 Mb/s?",
        choices: [
          {
            text: "Headers take part of each frame, and losses cost some capacity.",
            right: true,
            feedback:
              "Right. A frame of 1514 bytes carries 1,424 bytes of payload here: Ethernet, IP, TCP and MPTCP headers take the rest. Goodput counts only payload, each byte once.",
          },
          {
            text: "MPTCP uses only the fastest link at a time.",
            feedback: "Packets move on all three links at the same time, as the picture shows.",
          },
          {
            text: "Acknowledgements take the capacity of the links.",
            feedback: "Acknowledgements travel in the other direction, which has a capacity of its own.",
          },
        ],
      },
    },
    {
      title: "How subflows open",
      text: [
        "Open the plot **Messages**. It shows the first segments between the two hosts. Select an arrow to see its options.",
        "The first SYN carries **MP_CAPABLE**: the client proposes Multipath TCP. Both hosts exchange keys. The **token** of a host is a hash of its key.",
        "Each further subflow opens with a SYN that carries **MP_JOIN** and the token. The token tells the server to which connection the subflow belongs.",
      ],
      setup: { panels: ["goodput", "limits", "messages"] },
      tasks: [openPanel("messages", "Messages")],
      question: {
        text: "The server sees a SYN from the WiFi address of the client. How does it know that it belongs to the open connection?",
        choices: [
          {
            text: "The addresses and ports are the same.",
            feedback: "They differ: each subflow has its own pair of addresses and ports.",
          },
          {
            text: "The MP_JOIN option contains the token of the connection.",
            right: true,
            feedback:
              "Right. The token identifies the connection, and an HMAC in the later segments proves that the sender knows its keys (RFC 8684, section 3.2).",
          },
          {
            text: "The sequence number continues that of the first subflow.",
            feedback:
              "Each subflow has sequence numbers of its own. The DSS option maps them to the stream of the connection.",
          },
        ],
      },
    },
    {
      title: "Unplug Ethernet",
      text: [
        "Each step begins with the run paused, so that you can read. Now the fastest link fails. The host **notices** it, as when you pull out a cable: the interface loses its address.",
        "Press Play, unplug the link, and watch the goodput plot. Some data was in flight on Ethernet, and it will never be acknowledged there.",
      ],
      setup: { panels: ["goodput", "limits", "sequence"] },
      tasks: [unplug("ethernet")],
    },
    {
      title: "Data that was on the way",
      text: [
        "Press Play, and let the run continue for a moment. The time-sequence plot marks **reinjections** with a diamond: the data of the lost subflow was sent once more, on another path.",
        "The program noticed only a pause of some tenths of a second: the missing bytes had to pass the queue of a slower path.",
      ],
      question: {
        text: "Which data does the sender reinject on WiFi and 3G?",
        choices: [
          {
            text: "All data since the start of the connection.",
            feedback: "Acknowledged data has arrived, so the sender has already deleted it.",
          },
          {
            text: "The data that was sent on Ethernet and has no DATA_ACK yet.",
            right: true,
            feedback:
              "Right. The sender keeps data until the acknowledgement of the connection, the DATA_ACK, covers it. Until then, any subflow can carry it again.",
          },
          {
            text: "Nothing: the data is lost, and the program must send it again.",
            feedback: "The connection hides the failure. The program sees one reliable stream, as with TCP.",
          },
        ],
      },
    },
    {
      title: "Unplug WiFi too",
      text: [
        "Unplug WiFi, and press Play. Only 3G remains. Compare the curves: the goodput falls to that of plain TCP over 3G, and the connection is still the same.",
      ],
      setup: { panels: ["goodput", "limits", "rtt", "cwnd"] },
      tasks: [unplug("wifi")],
      question: {
        text: "What would have happened to a plain TCP connection over Ethernet?",
        choices: [
          {
            text: "It would have continued over 3G.",
            feedback: "A TCP connection is bound to its two addresses. A new path has another address.",
          },
          {
            text: "It would have stalled and failed, because its address is gone.",
            right: true,
            feedback:
              "Right. The program would have to open a new connection and to continue the transfer by itself.",
          },
          {
            text: "It would have waited for exactly one RTT.",
            feedback: "Without its address, it can neither send nor receive, however long it waits.",
          },
        ],
      },
    },
    {
      title: "Plug WiFi in again",
      text: [
        "Plug WiFi in, and press Play. The address returns, and the client opens a **new** subflow with MP_JOIN. Its congestion window starts small and doubles in each RTT: **slow start**.",
      ],
      tasks: [plugIn("wifi")],
      question: {
        text: "Why does the new subflow not continue with its old congestion window?",
        choices: [
          {
            text: "It is a new TCP connection that knows nothing about the path yet.",
            right: true,
            feedback:
              "Right. The capacity may have changed, for example because the phone is at another access point. So each subflow probes from its initial window of 10 segments.",
          },
          {
            text: "The server has forgotten the keys.",
            feedback: "The connection stayed open over 3G, so both hosts still know the keys.",
          },
          {
            text: "3G has used up the window.",
            feedback: "Congestion windows belong to subflows. Only the receive window is shared.",
          },
        ],
      },
    },
    {
      title: "A silent failure",
      text: [
        "A cable that you pull out is the friendly case. Often a link drops all packets and **no host notices it**: a broken router, a full lift, a network that forgets the phone.",
        "The scenario restarts. In the panel of the link, choose **The host does not notice it**. Unplug Ethernet after about 3 s, and watch what the sender does.",
      ],
      setup: { scene: "three-links", speed: 0.5, panels: ["goodput", "limits", "sequence"], span: 5 },
      tasks: [
        {
          text: "Run the scenario, and unplug ethernet without notice.",
          done: (progress) =>
            progress.actions.some(
              (action) =>
                action.kind === "link" &&
                action.link === "ethernet" &&
                action.set.up === false &&
                action.how === "blackhole",
            ),
        },
      ],
      question: {
        text: "How does the sender find out that Ethernet is dead?",
        choices: [
          {
            text: "The server tells it over WiFi that Ethernet is down.",
            feedback: "The server does not know it either. It only receives nothing from there.",
          },
          {
            text: "No acknowledgement arrives until the retransmission timer expires.",
            right: true,
            feedback:
              "Right. Only then it knows that the path is in trouble, and reinjects the missing data on other paths. Each further timeout doubles the timer.",
          },
          {
            text: "It sends a ping in each RTT.",
            feedback: "Data and acknowledgements are the only probes while the path works.",
          },
        ],
      },
    },
    {
      title: "Probing a failed path",
      text: [
        "Look at the band of Ethernet in the plot of limits. The subflow is still open, because nobody closed it. While another subflow works, the sender probes the failed path once per second, without payload. It thus detects a path that returns, and a dead path costs little.",
        "A **backup path** is the third variant: a subflow that carries data only while no other path works. A phone can keep mobile data as a backup because it costs money. Try the scene **Backup path** in the gallery after this lesson.",
      ],
      question: {
        text: "Your phone slowly leaves the range of its WiFi. Why does the transfer pause longer than after you pull a cable?",
        choices: [
          {
            text: "The sender must wait for a timeout before it moves the missing data.",
            right: true,
            feedback:
              "Right. The time until the sender notices is the price of a silent failure. The move itself is the same reinjection.",
          },
          {
            text: "The receiver must read all data again.",
            feedback: "The receiver keeps everything that has arrived.",
          },
          {
            text: "Multipath TCP has to negotiate new keys.",
            feedback: "Keys belong to the connection, which never closed.",
          },
        ],
      },
    },
    {
      title: "Summary",
      text: [
        "A Multipath TCP connection is one stream over several subflows. Subflows come and go with MP_JOIN, while the stream goes on.",
        "Data without a DATA_ACK can be **reinjected** on any other path. If a host notices the failure, it reinjects at once. If nobody notices it, a retransmission timer has to expire first.",
        "Next lesson: a second link that makes a transfer slower.",
      ],
    },
  ],
};
