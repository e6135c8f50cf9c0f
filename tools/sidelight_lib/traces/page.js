// SPDX-License-Identifier: BSD-3-Clause
"use strict";

const GUTTER = 74, AXIS = 22, BOTTOM = 4;
const COMPUTING = "#e9edf1", ASLEEP = "#c6d3e3", IN_CALL = "#b3bdc9", EDGE = "#8793a1";
const EPOCH_FILL = ["#cfe3d4", "#cfdff2", "#f3ddc7", "#e2d5ef", "#efe3b8"];
const EPOCH_EDGE = ["#5f9a70", "#4f83bd", "#c08a4e", "#8a68b3", "#a88f2e"];
const FONT = "11px system-ui, 'DejaVu Sans', sans-serif";

function duration(ns) {
  const size = Math.abs(ns);
  const [unit, name] = size >= 1e9 ? [1e9, "s"] : size >= 1e6 ? [1e6, "ms"] : size >= 1e3 ? [1e3, "us"] : [1, "ns"];
  return `${+(ns / unit).toPrecision(3)} ${name}`;
}

// The first of the items, which are in the order of their begins, that may reach behind `time`.
// Items of one list may overlap: the greatest length is known.
function firstVisible(items, time) {
  if (items.longest === undefined) {
    items.longest = items.reduce((most, item) => Math.max(most, item[1] - item[0]), 0);
  }
  let low = 0, high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle][0] < time - items.longest) low = middle + 1; else high = middle;
  }
  return low;
}

class Timeline {
  constructor(canvas, ranks, height) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.height = height;
    this.changed = () => {};
    this.show(ranks, 0, DATA.total);
    this.listen();
  }

  show(ranks, from, to) {
    this.ranks = ranks;
    this.place = new Map(ranks.map((rank, place) => [rank.rank, place]));
    this.from = from;
    this.to = Math.max(to, from + 10);
    this.first = 0;
    this.last = ranks.length;
    this.draw();
  }

  all() { this.show(this.ranks, 0, DATA.total); }

  x(time) { return GUTTER + (time - this.from) / (this.to - this.from) * (this.width - GUTTER); }
  time(x) { return this.from + (x - GUTTER) / (this.width - GUTTER) * (this.to - this.from); }
  y(place) { return AXIS + (place - this.first) / (this.last - this.first) * (this.height - AXIS - BOTTOM); }
  placeAt(y) { return this.first + (y - AXIS) / (this.height - AXIS - BOTTOM) * (this.last - this.first); }

  draw() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth || 1200;
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    const pen = this.pen;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, this.width, this.height);
    pen.font = FONT;
    pen.textBaseline = "middle";
    this.arrows = [];
    pen.save();
    pen.beginPath();
    pen.rect(GUTTER, AXIS, this.width - GUTTER, this.height - AXIS);
    pen.clip();
    for (let place = Math.max(Math.floor(this.first), 0); place < Math.min(Math.ceil(this.last), this.ranks.length); place++) {
      this.drawRank(this.ranks[place], place);
    }
    this.drawArrows();
    pen.restore();
    this.drawAxis();
    this.drawLabels();
    this.changed();
  }

  // Where a rank's parts are: its epochs above its line.
  parts(place) {
    const top = this.y(place), room = this.y(place + 1) - top;
    const pad = room > 5 ? Math.min(0.12 * room, 8) : 0;
    const withEpochs = room >= 26;
    // Thin lines overlap a little, else what is between them makes them pale.
    const line = withEpochs ? Math.min(0.4 * (room - pad), 34) : room > 5 ? room - pad : room + 0.6;
    const bottom = room > 5 ? top + room - pad : top + line;
    return { top: top + pad / 2, line: bottom - line, height: line, bottom, room, withEpochs };
  }

  drawRank(rank, place) {
    const pen = this.pen, at = this.parts(place);
    pen.fillStyle = COMPUTING;
    const begin = this.x(rank.span[0]), end = this.x(rank.span[1]);
    pen.fillRect(begin, at.line, Math.max(end - begin, 0.5), at.height);
    this.drawItems(rank.naps, at, () => ASLEEP, null);
    this.drawItems(rank.calls, at, () => IN_CALL, at.height > 12 ? call => call[2] : null);
    this.drawItems(rank.losses, at, loss => DATA.patterns[loss[2]][1], at.height > 12 ? loss => DATA.patterns[loss[2]][0] : null, true);
    if (at.withEpochs) {
      this.drawEpochs(rank, at);
      this.noteArrows(rank, place, at);
    }
  }

  drawItems(items, at, colour, label, light) {
    const pen = this.pen;
    for (let number = firstVisible(items, this.from); number < items.length && items[number][0] < this.to; number++) {
      const item = items[number];
      const left = Math.max(this.x(item[0]), GUTTER), right = Math.min(this.x(item[1]), this.width);
      if (right <= left) continue;
      pen.fillStyle = colour(item);
      pen.fillRect(left, at.line, right - left, at.height);
      if (label && right - left > 42) this.write(label(item), left, right, at.line + at.height / 2, light ? "#fff" : "#27313d");
    }
  }

  write(text, left, right, y, colour) {
    const pen = this.pen;
    const room = right - left - 8;
    if (pen.measureText(text).width > room) return;
    pen.fillStyle = colour;
    pen.fillText(text, left + 4, y);
  }

  drawEpochs(rank, at) {
    const pen = this.pen;
    const lanes = rank.lanes ??= 1 + rank.epochs.reduce((most, epoch) => Math.max(most, epoch[3]), 0);
    const room = at.line - at.top - 2, lane = Math.min(room / lanes, 24);
    for (let number = firstVisible(rank.epochs, this.from); number < rank.epochs.length && rank.epochs[number][0] < this.to; number++) {
      const epoch = rank.epochs[number];
      const [opened, completed, kind, row, granted, closed, peers, , operations] = epoch;
      const left = Math.max(this.x(opened), GUTTER - 2), right = Math.min(this.x(completed), this.width + 2);
      if (right - left < 0.3) continue;
      const top = at.line - 2 - (row + 1) * lane, height = Math.max(lane - 2, 1);
      pen.fillStyle = EPOCH_FILL[kind];
      pen.globalAlpha = 0.35;
      pen.fillRect(left, top, right - left, height);
      pen.globalAlpha = 1;
      const active = granted < 0 ? right : Math.min(Math.max(this.x(granted), left), right);
      pen.fillRect(active, top, right - active, height);
      if (right - left > 3) {
        pen.strokeStyle = EPOCH_EDGE[kind];
        pen.lineWidth = 1;
        pen.strokeRect(left + 0.5, top + 0.5, right - left - 1, height - 1);
        if (closed >= 0) this.mark(this.x(closed), top, height, EPOCH_EDGE[kind], 2);
        if (right - left > 14 && height > 5) for (const time of operations) this.mark(this.x(time), top + height * 0.55, height * 0.45, "#27313d", 1);
        if (height > 11) this.write(`${DATA.kinds[kind].replace("_", " ")}${peers ? (kind === 2 ? " for " : " at ") + peers : ""}`, left, right, top + height / 2, "#27313d");
      }
    }
  }

  mark(x, top, height, colour, width) {
    this.pen.fillStyle = colour;
    this.pen.fillRect(x - width / 2, top, width, height);
  }

  noteArrows(rank, place, at) {
    for (let number = firstVisible(rank.losses, this.from); number < rank.losses.length && rank.losses[number][0] < this.to; number++) {
      const loss = rank.losses[number], cause = this.place.get(loss[3]);
      if (cause === undefined || cause === place || loss[5] < 0) continue;
      if (this.x(loss[1]) - this.x(loss[0]) > 8) {
        const from = this.parts(cause);
        this.arrows.push([this.x(loss[5]), from.line + (cause < place ? from.height : 0), this.x(loss[1]), at.line + (cause < place ? 0 : at.height)]);
      }
    }
  }

  drawArrows() {
    const pen = this.pen;
    if (this.arrows.length > 150) return;
    pen.strokeStyle = pen.fillStyle = "#27313d";
    pen.lineWidth = 1;
    for (const [x0, y0, x1, y1] of this.arrows) {
      const angle = Math.atan2(y1 - y0, x1 - x0);
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.lineTo(x1, y1);
      pen.stroke();
      pen.beginPath();
      pen.moveTo(x1, y1);
      pen.lineTo(x1 - 8 * Math.cos(angle - 0.35), y1 - 8 * Math.sin(angle - 0.35));
      pen.lineTo(x1 - 8 * Math.cos(angle + 0.35), y1 - 8 * Math.sin(angle + 0.35));
      pen.fill();
    }
  }

  drawAxis() {
    const pen = this.pen, span = this.to - this.from;
    const rough = span / Math.max((this.width - GUTTER) / 110, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= rough);
    const [unit, name] = this.to >= 1e9 && step >= 1e6 ? [1e9, "s"] : this.to >= 1e6 && step >= 1e3 ? [1e6, "ms"] : [1e3, "us"];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
    pen.textAlign = "center";
    for (let time = Math.ceil(this.from / step) * step; time <= this.to; time += step) {
      const x = this.x(time);
      pen.fillStyle = "rgba(29,37,48,0.10)";
      pen.fillRect(x, AXIS - 4, 1, this.height - AXIS + 4);
      if (x > GUTTER + 26 && x < this.width - 30) {
        pen.fillStyle = "#5b6675";
        pen.fillText(`${(time / unit).toFixed(digits)} ${name}`, x, AXIS / 2);
      }
    }
    pen.textAlign = "left";
  }

  drawLabels() {
    const pen = this.pen, room = this.y(1) - this.y(0);
    const every = Math.max(1, 2 ** Math.ceil(Math.log2(13 / room)));
    pen.textAlign = "right";
    pen.fillStyle = "#1d2530";
    for (let place = Math.max(Math.floor(this.first), 0); place < Math.min(this.last, this.ranks.length); place++) {
      if (place % every) continue;
      const at = this.parts(place);
      const y = every > 1 ? this.y(place) + Math.max(room / 2, 5) : at.withEpochs ? at.line + at.height / 2 : this.y(place) + room / 2;
      if (y > this.height - 4 || y < AXIS) continue;
      pen.fillText(`rank ${this.ranks[place].rank}`, GUTTER - 8, y);
    }
    pen.textAlign = "left";
  }

  zoom(factor, x) {
    const middle = this.time(x ?? (GUTTER + this.width) / 2);
    const span = Math.min(Math.max((this.to - this.from) * factor, 20), 1.02 * DATA.total);
    const share = (middle - this.from) / (this.to - this.from);
    this.from = middle - share * span;
    this.to = this.from + span;
    this.keepInside();
  }

  zoomRanks(factor, y) {
    const middle = this.placeAt(y), span = Math.min(Math.max((this.last - this.first) * factor, 1), this.ranks.length);
    const share = (middle - this.first) / (this.last - this.first);
    this.first = middle - share * span;
    this.last = this.first + span;
    this.keepInside();
  }

  move(dx, dy) {
    const time = dx / (this.width - GUTTER) * (this.to - this.from);
    const places = dy / (this.height - AXIS - BOTTOM) * (this.last - this.first);
    this.from -= time; this.to -= time; this.first -= places; this.last -= places;
    this.keepInside();
  }

  keepInside() {
    const shift = (low, high, least, most) => low < least ? least - low : high > most ? Math.max(most - high, least - low) : 0;
    const time = shift(this.from, this.to, 0, DATA.total), places = shift(this.first, this.last, 0, this.ranks.length);
    this.from += time; this.to += time; this.first += places; this.last += places;
    if (!this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => { this.waiting = false; this.draw(); });
    }
  }

  listen() {
    const canvas = this.canvas, tip = document.getElementById("tip");
    let held = null;
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      const by = Math.exp((event.deltaY || event.deltaX) * 0.0015);
      if (event.shiftKey) this.zoomRanks(by, event.offsetY); else this.zoom(by, event.offsetX);
    }, { passive: false });
    canvas.addEventListener("pointerdown", event => { held = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", () => { held = null; });
    canvas.addEventListener("pointerleave", () => { tip.style.display = "none"; });
    canvas.addEventListener("dblclick", () => this.all());
    canvas.addEventListener("pointermove", event => {
      if (held) {
        this.move(event.clientX - held[0], event.clientY - held[1]);
        held = [event.clientX, event.clientY];
      }
      const text = held ? "" : this.describe(event.offsetX, event.offsetY);
      tip.style.display = text ? "block" : "none";
      tip.textContent = text;
      tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - 390)}px`;
      tip.style.top = `${event.clientY + 16}px`;
    });
    canvas.addEventListener("keydown", event => {
      const step = { ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
      if (step) this.move(...step);
      else if (event.key === "+" || event.key === "=") this.zoom(1 / 1.5);
      else if (event.key === "-") this.zoom(1.5);
      else if (event.key === "0") this.all();
      else return;
      event.preventDefault();
    });
  }

  // What is under the pointer, in words.
  describe(x, y) {
    const place = Math.floor(this.placeAt(y)), rank = this.ranks[place];
    if (!rank || x < GUTTER || y < AXIS) return "";
    const time = this.time(x), slack = (this.to - this.from) / this.width;
    const under = items => {
      let found = null;
      for (let number = firstVisible(items, time); number < items.length && items[number][0] <= time + slack; number++) {
        if (items[number][1] >= time - slack) found = items[number];
      }
      return found;
    };
    const lines = [`rank ${rank.rank} on ${rank.node}, ${duration(time)}`];
    const at = this.parts(place);
    const epoch = at.withEpochs && y < at.line ? under(rank.epochs) : null;
    if (epoch) {
      const [opened, completed, kind, , granted, closed, peers, bytes, operations] = epoch;
      lines.push(`${DATA.kinds[kind].replace("_", " ")} epoch${peers ? ` with rank ${peers}` : ""}: ${duration(completed - opened)}`);
      if (granted >= 0) lines.push(`granted after ${duration(granted - opened)}`);
      if (closed >= 0) lines.push(`closed after ${duration(closed - opened)}, complete ${duration(completed - closed)} later`);
      if (operations.length) lines.push(`${operations.length}${operations.length === 64 ? " or more" : ""} operations, ${bytes} B`);
      return lines.join("\n");
    }
    const call = under(rank.calls), loss = under(rank.losses);
    if (call) lines.push(`${call[2]} from ${DATA.places[call[3]]}: ${duration(call[1] - call[0])}`);
    if (loss) lines.push(`${DATA.patterns[loss[2]][0]}: ${duration(loss[1] - loss[0])}${loss[3] >= 0 ? `, by rank ${loss[3]}` : ""}`);
    if (!call && !loss) lines.push(under(rank.naps) ? "asleep in another call" : "computing");
    return lines.join("\n");
  }
}

const overview = new Timeline(document.getElementById("overview"), DATA.ranks, Math.min(Math.max(DATA.ranks.length * 64, 170), 430));
overview.changed = () => {
  const whole = overview.from <= 0 && overview.to >= DATA.total;
  const merged = DATA.merged ? `; what is shorter than ${duration(DATA.merged)} is drawn together` : "";
  document.getElementById("range").textContent = (whole ? duration(DATA.total) : `${duration(overview.from)} to ${duration(overview.to)}`) + merged;
};
overview.changed();

let closeup = null;

// Its longest wait, with who lost, who caused it, and some before and behind.
function showRow(number) {
  const worst = DATA.worst[number];
  if (!worst) return;
  const [begin, end, victim, cause] = worst, length = Math.max(end - begin, 200);
  let chosen = DATA.ranks.filter(rank => rank.rank === victim || rank.rank === cause);
  if (chosen.length < 2) {
    const place = DATA.ranks.findIndex(rank => rank.rank === victim);
    const first = Math.max(Math.min(place - 1, DATA.ranks.length - 3), 0);
    chosen = DATA.ranks.slice(first, first + 3);
  }
  const from = Math.max(begin - 0.8 * length, 0), to = Math.min(end + 0.8 * length, DATA.total);
  if (closeup === null) closeup = new Timeline(document.getElementById("closeup"), chosen, 108 * chosen.length + AXIS);
  closeup.height = 108 * chosen.length + AXIS;
  closeup.show(chosen, from, to);
  for (const row of document.querySelectorAll("#rows tr")) row.classList.toggle("chosen", row.dataset.row === String(number));
  const name = document.querySelector(`#rows tr[data-row="${number}"] td`).textContent;
  document.getElementById("what").textContent = `the longest ${name}, ${duration(end - begin)} of rank ${victim}`;
}

for (const row of document.querySelectorAll("#rows tr[data-row]")) {
  row.addEventListener("click", () => { showRow(+row.dataset.row); document.getElementById("closeup").scrollIntoView({ block: "nearest" }); });
}
document.getElementById("in").onclick = () => overview.zoom(1 / 1.6);
document.getElementById("out").onclick = () => overview.zoom(1.6);
document.getElementById("all").onclick = () => overview.all();
if (DATA.worst.length) showRow(0); else document.getElementById("closeup").closest("section").remove();
window.addEventListener("resize", () => { overview.draw(); if (closeup) closeup.draw(); });
document.body.dataset.drawn = "yes"; // for tests: no error on the way here
