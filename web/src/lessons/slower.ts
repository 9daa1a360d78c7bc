// Lesson 2: why two links can be slower than one, and what M1 and M2 do about it.
import { openPanel, runUntil } from "./tasks";
import type { Lesson } from "./types";

export const slower: Lesson = {
  id: "slower",
  title: "Why two links can be slower than one",
  sentence: "Receive buffer, head-of-line blocking, opportunistic retransmission (M1) and penalisation (M2).",
  steps: [
    {
      title: "A surprise",
      text: [
        "WiFi has 8 Mb/s and an RTT of 20 ms. 3G has 2 Mb/s, an RTT of 150 ms, and a long queue. The receive buffer and the send buffer of the connection hold 205 kB each. The delay at a link in the picture is that of one direction: 75 ms are half of the RTT of 3G.",
        "Texts and plots count 1 kB as 1000 bytes. In scenarios, `KB` means 1024 bytes, so 205 kB are `200KB` there.",
        "The dotted curves show plain TCP: about 7.6 Mb/s over WiFi, and 1.9 Mb/s over 3G. You would expect about 9.5 Mb/s of both together.",
      ],
      setup: { scene: "small-buffer", speed: 2, panels: ["goodput", "limits", "rtt"], tab: "why" },
      tasks: [runUntil(12)],
      question: {
        text: "What goodput do both links reach together in this run?",
        choices: [
          { text: "About 9.5 Mb/s, the sum", feedback: "Look at the black curve: it stays far below the dotted curve of WiFi." },
          {
            text: "About 7.6 Mb/s, as WiFi alone",
            feedback: "It is less than that: the second link does not only fail to help, it costs goodput.",
          },
          {
            text: "Between 5 and 6 Mb/s, less than WiFi alone",
            right: true,
            feedback: "Right. Two links are about 30% slower than the better one alone. The next steps explain the reason.",
          },
        ],
      },
    },
    {
      title: "One stream, one receive buffer",
      text: [
        "The program at the receiver reads bytes **in order**. A byte that arrives before its predecessors waits in the receive buffer. All subflows share this buffer.",
        "In the plot **Buffers**, *out of order* is the data that waits. In the picture, the bar of the server shows it.",
        "The receiver acknowledges the stream with the **DATA_ACK**: the first byte that is missing. The **receive window** says how far beyond this byte the sender may send.",
        "The program reads at once, so the curve *receive window* stays at 205 kB, the size of the buffer. Data that waits out of order does not make the window smaller, but it takes space in it. If 145 kB wait, only 60 kB are left for the missing data and for new data.",
      ],
      tasks: [openPanel("buffers", "Buffers")],
      question: {
        text: "Which path do the waiting bytes mostly come from?",
        choices: [
          {
            text: "From WiFi: they wait for older bytes on 3G.",
            right: true,
            feedback: "Right. WiFi delivers within milliseconds. The gap before its bytes belongs to a segment that is still on 3G.",
          },
          {
            text: "From 3G: they wait for older bytes on WiFi.",
            feedback: "Compare the RTTs: 3G needs about ten times as long as WiFi. Its bytes are the late ones.",
          },
        ],
      },
    },
    {
      title: "Head-of-line blocking",
      text: [
        "Press Play: the run starts again, in slow motion. From the first second on, the plot of limiting factors shows WiFi in **head-of-line blocking** for most of the time: a buffer is full, and its oldest data is on another path.",
        "WiFi could send, and its congestion window is open. But the receive window is used up: by the data that is still on 3G, and by the WiFi data that waits for it.",
        "The time-sequence plot shows the rhythm. When the window opens, both paths send a burst: a vertical line. After that, each segment that arrives over 3G makes space for one more. WiFi sends these few segments, slowly, until the last 3G segment of the burst arrives. Then the window opens far, and the next burst follows.",
      ],
      setup: { scene: "small-buffer", speed: 0.3, panels: ["limits", "buffers", "sequence"], span: 1 },
      tasks: [runUntil(3)],
      question: {
        text: "What frees the receive window?",
        choices: [
          {
            text: "The arrival of the oldest missing segment over 3G.",
            right: true,
            feedback:
              "Right. This segment fills a gap, and the program reads all data up to the next gap. The window opens by these bytes: a single segment in the middle of a burst on 3G, and much more after its last segment.",
          },
          {
            text: "The next segment over WiFi.",
            feedback: "It would only be one more byte range behind the same gap.",
          },
          {
            text: "The congestion window of WiFi.",
            feedback: "The congestion window protects the network. The receive window protects the memory of the receiver.",
          },
        ],
      },
    },
    {
      title: "A rule of thumb",
      text: [
        "While one segment takes 0.4 s over 3G, WiFi could deliver 0.4 s × 8 Mb/s = 400 kB. These bytes have to wait somewhere. A buffer of 205 kB stops WiFi after half of that time.",
        "RFC 6182 recommends a buffer of **2 × (sum of all rates) × (largest RTT)**. The factor 2 leaves room for the recovery of a loss.",
        "The long queue of 3G makes it worse: the more data waits there, the longer is its RTT, and the more buffer is needed.",
      ],
      question: {
        text: "WiFi 8 Mb/s, 3G 2 Mb/s, and an RTT of 150 ms without queue. Which buffer does the rule recommend?",
        choices: [
          {
            text: "About 375 kB",
            right: true,
            feedback: "Right: 2 × 10 Mb/s × 0.15 s = 3 Mb = 375 kB. With a full queue on 3G, the RTT and the buffer grow with it.",
          },
          { text: "About 40 kB", feedback: "This is 2 × 8 Mb/s × 20 ms. The largest RTT counts, not that of WiFi." },
          { text: "About 188 kB", feedback: "This is the product without the factor 2." },
        ],
      },
    },
    {
      title: "A larger buffer",
      text: [
        "The same network with buffers of 2 MB. With the data in its queue, 3G has a mean RTT of about 1.7 s. WiFi delivers 1.7 s × 8 Mb/s = 1.7 MB in this time, so WiFi does not have to wait for long.",
        "But memory is not free: a server with 10,000 such connections would need 20 GB.",
      ],
      setup: { scene: "large-buffer", speed: 5, panels: ["goodput", "limits", "buffers", "rtt"], tab: "why" },
      tasks: [runUntil(30)],
      question: {
        text: "What happens to the goodput?",
        choices: [
          {
            text: "After the start, it reaches about 9 Mb/s, close to the sum.",
            right: true,
            feedback: "Right: 9.0 Mb/s in the mean since 5 s. WiFi is blocked from 3.5 s to 5.7 s, when 3G repairs its first losses, and later for short times when the queue of 3G is longest. This costs 6% of its capacity. The stream advances in jumps, because data on 3G is 2 s late.",
          },
          { text: "It stays below WiFi alone.", feedback: "Look at the mean on the card of the flow after some seconds." },
        ],
      },
    },
    {
      title: "A path that fades",
      text: [
        "Without so much memory, can the sender do something? First the hardest case: an LTE link that falls from 6 Mb/s to 0.1 Mb/s at 5 s, and recovers at 9 s. The buffers hold 410 kB.",
        "Some segments are stuck on LTE. WiFi works all the time.",
      ],
      setup: { scene: "fading", speed: 2, panels: ["goodput", "limits", "buffers", "sequence"] },
      tasks: [runUntil(10)],
      question: {
        text: "What does the program get between 5 s and 9 s, although WiFi has 8 Mb/s?",
        choices: [
          { text: "About 8 Mb/s: WiFi carries on.", feedback: "Look at the black curve between 5 s and 9 s." },
          {
            text: "Almost nothing: about 0.3 Mb/s.",
            right: true,
            feedback:
              "Right. The receive window is full, and its oldest data is stuck on LTE. WiFi may not send anything new, so the stream moves at the speed of the faded path.",
          },
          { text: "About 0.1 Mb/s on LTE plus 8 Mb/s on WiFi.", feedback: "WiFi is blocked for most of this time, as the limits show." },
        ],
      },
    },
    {
      title: "M1: opportunistic retransmission",
      text: [
        "The sender knows which data blocks the window: the oldest data that no DATA_ACK covers yet. It also knows that WiFi has an open congestion window, and may not send new data.",
        "**Opportunistic retransmission (M1)**: if the receive window is full, a fast subflow sends a **copy of the oldest data** that another subflow has not delivered. As soon as the copy arrives, the window opens by the gap that it fills.",
        "The same fading link with M1. In the time-sequence plot, diamonds mark the copies.",
        "One copy is not enough here. About 55 segments wait on LTE, and each of them is a gap. M1 sends one copy, waits for its DATA_ACK, and then copies the next gap: one copy every 25 ms, an RTT of WiFi. So WiFi stays blocked from 5.3 s to 7.0 s.",
      ],
      setup: { scene: "fading-m1", speed: 2, panels: ["goodput", "limits", "buffers", "sequence"] },
      tasks: [runUntil(10)],
      question: {
        text: "What does M1 do exactly?",
        choices: [
          {
            text: "It closes the slow subflow.",
            feedback: "The slow subflow stays open. It continues when LTE recovers at 9 s.",
          },
          {
            text: "When the receive window is full, it sends a copy of the oldest missing data on a faster path.",
            right: true,
            feedback:
              "Right. The copy fills the gap, and the stream moves on: about 3.4 Mb/s between 5 s and 9 s instead of 0.3 Mb/s. When the original arrives later, the receiver discards it.",
          },
          {
            text: "It sends all data on both paths.",
            feedback: "This would be the redundant scheduler. M1 copies only data that blocks the window.",
          },
        ],
      },
    },
    {
      title: "M1 alone is not enough",
      text: [
        "Back to WiFi and 3G, now with M1. The problem there is not a failure. 3G takes as much data as its long queue holds, in each round again.",
        "M1 repairs the gap each time, but the copies need capacity of WiFi, and 3G keeps filling the window.",
      ],
      setup: { scene: "m1", speed: 3, panels: ["goodput", "limits", "cwnd", "rtt"], tab: "why" },
      tasks: [runUntil(30)],
      question: {
        text: "The goodput is 4.3 Mb/s, 20% less than the 5.4 Mb/s without M1. Why?",
        choices: [
          {
            text: "Many bytes are sent twice, and the window of 3G stays too large.",
            right: true,
            feedback:
              "Right. The copies take 1.15 Mb/s: 27% of the goodput, or 12% of the 9.4 Mb/s that both links could carry (the number on the card). M1 treats the symptom. The cause is the large window of 3G.",
          },
          { text: "M1 is active only after losses.", feedback: "M1 reacts to a full receive window, not to losses." },
          { text: "The copies get lost.", feedback: "They arrive. But each of them takes the place of new data." },
        ],
      },
    },
    {
      title: "M2: penalisation",
      text: [
        "**Penalisation (M2)**: when a subflow has filled the receive window, the sender **halves its congestion window**, at most once per RTT. Less data is then on the slow path, its queue shrinks, and its RTT with it.",
        "The same network with M1 and M2.",
      ],
      setup: { scene: "m1-m2", speed: 3, panels: ["goodput", "limits", "cwnd", "rtt"], tab: "why" },
      tasks: [runUntil(30)],
      question: {
        text: "Compare the RTT of 3G with the earlier runs. What changed?",
        choices: [
          {
            text: "It is about 0.2 s, because fewer bytes wait in the queue of 3G.",
            right: true,
            feedback:
              "Right. After the start, it moves between 0.16 s and about 0.24 s: it grows with the window, and falls when M2 halves the window. 3G still carries almost its full rate, with a window of about 40 kB instead of 300 kB. Both links together reach 9.3 Mb/s, with the buffer of 205 kB.",
          },
          { text: "It rose, because 3G is penalised.", feedback: "The penalty halves the window. Less data waits in the queue." },
          { text: "It did not change.", feedback: "In the run without M2, it was above 0.4 s." },
        ],
      },
    },
    {
      title: "Look ahead instead",
      text: [
        "M1 and M2 repair what the scheduler `minrtt` did: it gave data to 3G only because the congestion window of 3G was open. The default scheduler of mptcplab, `ontime`, estimates when a segment would arrive on each path. It leaves 3G out if WiFi delivers earlier, and uses M1 for data that is late all the same.",
        "This is the small buffer with all default settings. Both links are full, as with M1 and M2: WiFi carries 7.5 Mb/s, and 3G 1.9 Mb/s. The goodput is 8.9 Mb/s instead of 9.3 Mb/s, because 5% of the data is sent twice by M1.",
        "So `ontime` is not better than M1 with M2 on this network. But it does not wait until the window is full and then shrink it: it avoids most of the late data.",
      ],
      setup: { scene: "ontime", speed: 5, panels: ["goodput", "limits", "buffers", "cwnd"], tab: "why" },
      tasks: [runUntil(30)],
    },
    {
      title: "Explain it yourself",
      text: ["A question to answer without the plots."],
      question: {
        text: "An operator says: adding 3G to WiFi made our uploads slower. Which explanation is right?",
        choices: [
          {
            text: "Data on 3G arrives late. Data from WiFi fills the shared receive buffer behind it, so WiFi has to wait.",
            right: true,
            feedback: "Right. A larger buffer, M1 with M2, or a scheduler that looks ahead removes the problem.",
          },
          { text: "3G and WiFi disturb each other by radio.", feedback: "They use different frequencies, and the simulator has no such effect here." },
          { text: "The congestion window is shared by all subflows.", feedback: "Each subflow has its own congestion window. The receive window is shared." },
        ],
      },
    },
    {
      title: "All results",
      text: ["The mean goodput of all runs of this lesson with WiFi and 3G, from 5 s to 30 s. One question is left below."],
      table: {
        head: ["Run", "Buffer", "Goodput"],
        rows: [
          ["Plain TCP over WiFi", "205 kB", "7.65 Mb/s"],
          ["Plain TCP over 3G", "205 kB", "1.91 Mb/s"],
          ["Both, small buffer", "205 kB", "5.38 Mb/s"],
          ["Both, large buffer", "2 MB", "8.99 Mb/s"],
          ["Both, M1", "205 kB", "4.28 Mb/s"],
          ["Both, M1 and M2", "205 kB", "9.31 Mb/s"],
          ["Both, scheduler ontime (with M1)", "205 kB", "8.92 Mb/s"],
        ],
      },
      question: {
        text: "When does M1 act?",
        choices: [
          { text: "After three duplicate acknowledgements.", feedback: "This is fast retransmit of TCP, on the same subflow." },
          {
            text: "When the receive window is full of data that waits for a slower subflow.",
            right: true,
            feedback: "Right. A subflow with an open congestion window then sends a copy of the oldest missing data.",
          },
          { text: "When a link goes down.", feedback: "Then the data of the closed subflow is reinjected, with or without M1." },
        ],
      },
    },
  ],
};
