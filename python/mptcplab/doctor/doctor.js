// Shows the values under the cursor: in the legend of each chart of the connection, at the same time.
"use strict";
for (const connection of document.querySelectorAll("section.connection")) {
  const charts = [...connection.querySelectorAll("figure.chart")].map((figure) => ({
    plot: figure.querySelector(".plot"),
    cursor: figure.querySelector(".cursor"),
    now: figure.querySelector(".now"),
    values: JSON.parse(figure.querySelector("script").textContent),
    places: [...figure.querySelectorAll(".legend b")],
    start: Number(figure.dataset.start),
    step: Number(figure.dataset.step),
    count: Number(figure.dataset.count),
  }));
  const show = (part) => {
    for (const chart of charts) {
      const at = Math.min(chart.count - 1, Math.max(0, Math.floor(part * chart.count)));
      chart.cursor.hidden = part === null;
      chart.cursor.style.left = `${(100 * (at + 0.5)) / chart.count}%`;
      chart.now.textContent = part === null ? "" : `at ${(chart.start + (at + 0.5) * chart.step).toFixed(2)} s`;
      chart.places.forEach((place, number) => {
        place.textContent = part === null ? "" : (chart.values[number][at] ?? "–");
      });
    }
  };
  for (const chart of charts) {
    chart.plot.addEventListener("pointermove", (event) => {
      const box = chart.plot.getBoundingClientRect();
      show((event.clientX - box.left) / box.width);
    });
    chart.plot.addEventListener("pointerleave", () => show(null));
  }
}
