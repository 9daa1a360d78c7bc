// The scenes of the gallery: scenario files with a title, a sentence and a group.

export interface Scene {
  id: string;
  group: string;
  title: string;
  sentence: string;
  toml: string;
}

const files = import.meta.glob<string>("./*.toml", { query: "?raw", import: "default", eager: true });

export const GROUPS = ["Start", "Mechanisms", "Networks", "Middleboxes", "Published studies"] as const;

const LIST: [(typeof GROUPS)[number], string, string, string][] = [
  ["Start", "two-links", "Two links together", "A download over DSL and LTE gets almost the sum of both."],
  ["Start", "three-links", "Three links", "Ethernet, WiFi and 3G to experiment with: unplug them, slow them down, add others."],
  ["Start", "handoff", "Handoff", "Ethernet and WiFi fail and return, while the connection stays open."],
  ["Start", "small-buffer", "Two links slower than one", "A receive buffer that is too small makes WiFi wait for 3G."],
  ["Start", "coupled", "Fairness at a bottleneck", "With LIA, two subflows take about as much as one TCP connection."],
  ["Mechanisms", "m1-m2", "M1 and M2", "The small buffer again: M1 sends copies, M2 keeps 3G from filling the buffer."],
  ["Mechanisms", "m1", "M1 alone", "Copies without penalisation: 27% of the data is sent twice."],
  ["Mechanisms", "fading", "A fading path without M1", "LTE fades for 4 s, and WiFi has to wait for the data on LTE."],
  ["Mechanisms", "fading-m1", "A fading path with M1", "WiFi sends copies of the data that waits on LTE, and the stream goes on."],
  ["Mechanisms", "large-buffer", "A large buffer", "With a buffer of 2 MB, WiFi rarely waits for 3G, even without M1 and M2."],
  ["Mechanisms", "ontime", "The default scheduler", "ontime expects late data and leaves it to the faster path."],
  ["Mechanisms", "uncoupled", "Fairness without coupling", "Reno on each subflow: the MPTCP flow takes more than the TCP flow."],
  ["Mechanisms", "uncoupled-cubic", "Fairness with CUBIC", "CUBIC on each subflow: the MPTCP flow takes about twice as much as the TCP flow."],
  ["Mechanisms", "scheduler-call", "Schedulers and a video call", "Blocks of a call over WiFi and LTE: compare minrtt, roundrobin and redundant."],
  ["Mechanisms", "redundant", "Redundant scheduler", "Both paths carry all data: a loss delays the stream less, but the goodput does not rise."],
  ["Networks", "blackhole", "A silent failure", "WiFi drops everything without notice; only missing acknowledgements reveal it."],
  ["Networks", "backup-path", "Backup path", "LTE carries data only while WiFi is down."],
  ["Networks", "wifi-uplink", "Contention for a WiFi channel", "Three stations share one channel; one of them also has LTE."],
  ["Networks", "bufferbloat", "Bufferbloat", "A queue of 1000 packets on 3G raises its RTT to seconds."],
  ["Networks", "fq-codel", "FQ-CoDel", "The same network with a short queue: the flow uses both links."],
  ["Middleboxes", "strip-options", "Options removed on the first path", "Without MP_CAPABLE, the connection falls back to plain TCP."],
  ["Middleboxes", "strip-second", "Options removed on the second path", "Without MP_JOIN, the second subflow never opens."],
  ["Published studies", "a-wireless", "A: wireless handoff", "Ethernet, WiFi and 3G with losses (CS244 at Stanford, 2013)."],
  ["Published studies", "b-heterogeneous", "B: WiFi and a dedicated link", "Pairs of hosts with two WiFi cells and a dedicated link (Abdrabou and Prakash)."],
  ["Published studies", "c-rcvbuf", "C: receive buffer", "Goodput against the receive buffer (CS244, 2014; after NSDI 2012)."],
  ["Published studies", "d-bottleneck", "D: shared bottleneck", "LIA and TCP with the same RTT (Ro and Nguyen Van, 2016)."],
  ["Published studies", "e-wifi", "E: two WiFi networks", "A client with two interfaces next to clients with one (UCL, 2013)."],
  ["Published studies", "f-backup", "F: a silent failure with a backup", "From the hands-on lab of the SIGCOMM 2020 tutorial."],
  ["Published studies", "g-latency", "G: delay of blocks", "Blocks of 8.2 kB over WiFi and 3G with a buffer of 30.7 kB (after NSDI 2012)."],
  ["Published studies", "h-blest", "H: BLEST", "The scheduler leaves 3G unused if it would block WLAN (Ferlin et al., 2016)."],
  ["Published studies", "i-ecf", "I: ECF", "A file over slow WiFi and fast LTE (Lim et al., CoNEXT 2017)."],
  ["Published studies", "j-olia", "J: LIA and OLIA next to TCP", "MPTCP users take capacity of TCP users (Khalili et al., CoNEXT 2012)."],
  ["Published studies", "k-competing", "K: WiFi and 3G with competing flows", "A TCP flow on each path (Wischik et al., NSDI 2011)."],
  ["Published studies", "l-fat-tree", "L: data centre", "16 hosts send over a fat tree with four subflows each (Wischik et al., NSDI 2011)."],
];

export const SCENES: Scene[] = LIST.map(([group, id, title, sentence]) => ({
  id,
  group,
  title,
  sentence,
  toml: files[`./${id}.toml`] ?? "",
}));

export function sceneOf(id: string): Scene | undefined {
  return SCENES.find((scene) => scene.id === id);
}
