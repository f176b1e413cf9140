// Shows what the page carries: tables that sort and filter, figures, samples behind a number. Text from result files goes into the page as text only, never as markup.
"use strict";
(async () => {
  const NEAR = "600px", FIRST_ROWS = 40, MOST_LISTED = 60, LONG_TEXT = 40;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (name, attributes = {}, ...children) => {
    const svg = ["svg", "line", "circle", "rect", "path", "text"].includes(name);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };

  // --- The data ---------------------------------------------------------------------------------
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (c) => c.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = await new Response(unpacked).json();
  for (const table of Object.values(data.tables)) {
    table.names = table.columns.map((column) => column[0]);
    table.size = table.values[0].length;
    table.at = (name) => table.values[table.names.indexOf(name)];
  }

  // --- Where links lead -------------------------------------------------------------------------
  // One GPU at a time. What a link names may be of another one, or in a closed fold, which a browser does not open.
  const switches = all("[data-shows]");
  function showGpu(name) {
    for (const part of all("[data-gpu]")) part.hidden = switches.length > 0 && part.dataset.gpu !== name;
    for (const button of switches) button.setAttribute("aria-pressed", button.dataset.shows === name);
  }
  for (const button of switches) {
    button.parentElement.hidden = false;
    button.addEventListener("click", () => showGpu(button.dataset.shows));
  }
  showGpu(switches[0]?.dataset.shows);
  function reach(id) {
    const target = document.getElementById(decodeURIComponent(id));
    if (!target) return;
    const part = target.closest("[data-gpu]");
    if (part) showGpu(part.dataset.gpu);
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) setTimeout(() => reach(link.hash.slice(1))); // when the browser has gone there itself
  });
  window.addEventListener("hashchange", () => reach(location.hash.slice(1)));
  if (location.hash) reach(location.hash.slice(1));

  // --- Numbers as people read them --------------------------------------------------------------
  const significant = (value, digits) =>
    Math.abs(value) >= 1e5 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(digits)));
  const milliseconds = (value) =>
    value < 0.1 ? `${(value * 1e3).toPrecision(3)} µs` : value < 1e3 ? `${value.toPrecision(3)} ms`
      : `${(value / 1e3).toPrecision(3)} s`;
  const digitsOf = (low, high) => {
    for (let digits = 2; digits < 6; digits++) {
      if ([low, high].every((end) => end === 1 || end.toFixed(digits) !== (1).toFixed(digits))) return digits;
    }
    return 6;
  };
  const SIGNS = { faster: "▲", slower: "▼", reference: "=" };
  const ratioText = ([ratio, low, high, claim]) => {
    const digits = digitsOf(low, high);
    return `${SIGNS[claim] ?? "≈"} ${ratio.toFixed(digits)}× [${low.toFixed(digits)}, ${high.toFixed(digits)}]`;
  };
  const KINDS = {
    text: { text: (v) => v, key: (v) => v },
    prose: { text: (v) => v, key: (v) => v },
    number: { text: (v) => significant(v, 4), key: (v) => v, right: true },
    whole: { text: (v) => Math.round(v).toLocaleString("en"), key: (v) => v, right: true },
    ms: { text: milliseconds, key: (v) => v, right: true },
    share: { text: (v) => `${Math.round(100 * v)} %`, key: (v) => v, right: true },
    ratio: { text: ratioText, key: (v) => v[0] },
    samples: { text: () => "samples", key: () => 0, fixed: true },
  };

  // An interval on the axis of its table, with a line at 1; hollow where nothing is claimed.
  const INTERVAL = { width: 90, height: 14 };
  function interval([ratio, low, high, claim], [least, most]) {
    const { width, height } = INTERVAL;
    const x = (value) =>
      4 + ((Math.log(Math.min(Math.max(value, least), most)) - Math.log(least)) / (Math.log(most) - Math.log(least)))
        * (width - 8);
    const y = height / 2, sure = claim in SIGNS;
    return make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      make("line", { x1: x(1), x2: x(1), y1: 0, y2: height, stroke: "currentColor", "stroke-opacity": 0.35 }),
      make("line", { x1: x(low), x2: x(high), y1: y, y2: y, stroke: "currentColor", "stroke-width": 2 }),
      make("circle", { cx: x(ratio), cy: y, r: 3.4, stroke: "currentColor", "stroke-width": 1.4,
        fill: sure ? "currentColor" : "var(--page)" }));
  }
  function bar(value) {
    return make("svg", { width: 46, height: 8, viewBox: "0 0 46 8", "aria-hidden": "true" },
      make("rect", { width: 46, height: 8, fill: "currentColor", "fill-opacity": 0.12 }),
      make("rect", { width: 46 * Math.min(value, 1), height: 8, fill: "currentColor", "fill-opacity": 0.6 }));
  }

  // --- Tables -----------------------------------------------------------------------------------
  function show(view) {
    if (view.dataset.shown) return;
    view.dataset.shown = "yes";
    const table = data.tables[view.dataset.table];
    if (!table) return;
    const { where, first, columns } = JSON.parse(view.dataset.view);
    const listed = columns.map((name) => table.columns[table.names.indexOf(name)]);
    // Sentences are too long for a cell: they are below their row, over its full width.
    const shown = listed.filter(([, kind]) => kind !== "prose"), prose = listed.filter(([, kind]) => kind === "prose");
    const key = shown.find(([, kind]) => kind !== "samples")?.[0]; // what a row is of: it stays in sight
    const mine = [];
    for (let i = 0; i < table.size; i++) {
      if (Object.entries(where).every(([name, value]) => table.at(name)[i] === value)) mine.push(i);
    }
    const chosen = {};
    const state = { sort: null, down: false, words: "", rows: FIRST_ROWS };
    const words = mine.map((i) =>
      listed.map(([name, kind]) => (kind === "text" || kind === "prose" ? table.at(name)[i] ?? "" : "")).join(" ").toLowerCase());
    const tools = make("div", { class: "tools" });
    const search = make("input", { type: "search", placeholder: "filter", "aria-label": `Filter ${view.dataset.label}` });
    search.addEventListener("input", () => { state.words = search.value.toLowerCase(); draw(); });
    tools.append(search);
    for (const [name, , listed] of shown) {
      if (!listed) continue;
      const values = [...new Set(mine.map((i) => table.at(name)[i]))];
      if (values.length < 2 || values.length > MOST_LISTED) continue;
      const select = make("select", {}, make("option", { value: "" }, "all"),
        ...values.map((value, n) => make("option", { value: String(n + 1) }, value === "" ? "(none)" : value)));
      if (values.includes(first[name])) {
        chosen[name] = first[name];
        select.value = String(values.indexOf(first[name]) + 1);
      }
      select.addEventListener("change", () => {
        if (select.value === "") delete chosen[name];
        else chosen[name] = values[select.value - 1];
        draw();
      });
      tools.append(make("label", {}, name, select));
    }
    const count = make("span", { role: "status" });
    tools.append(count);
    const head = make("tr"), body = make("tbody");
    for (const [name, kind, , help] of shown) {
      const cell = make("th", { scope: "col", class: name === key ? "key" : KINDS[kind].right ? "n" : null });
      if (KINDS[kind].fixed) cell.append("");
      else {
        const button = make("button", { type: "button", title: help || `sort by ${name}` }, name);
        button.addEventListener("click", () => {
          state.down = state.sort === name ? !state.down : kind !== "text";
          state.sort = name;
          for (const other of head.children) other.removeAttribute("aria-sort");
          cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
          draw();
        });
        cell.append(button);
      }
      head.append(cell);
    }
    const more = make("button", { type: "button", class: "more" });
    more.addEventListener("click", () => { state.rows = Infinity; draw(); });
    const grid = make("div", { class: "wide tall", tabindex: "0", role: "region", "aria-label": view.dataset.label },
      make("table", {}, make("thead", {}, head), body));
    view.replaceChildren(tools, grid, more);

    function draw() {
      const found = mine.filter((i, n) =>
        (state.words === "" || words[n].includes(state.words)) &&
        Object.entries(chosen).every(([name, value]) => table.at(name)[i] === value));
      if (state.sort !== null) {
        const kind = KINDS[table.columns[table.names.indexOf(state.sort)][1]];
        const keys = new Map(found.map((i) => {
          const value = table.at(state.sort)[i];
          return [i, value === null || value === "" ? null : kind.key(value)];
        }));
        found.sort((a, b) => {
          const [x, y] = [keys.get(a), keys.get(b)];
          if (x === null || y === null) return (x === null) - (y === null); // what is not known comes last
          const order = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
          return state.down ? -order : order;
        });
      }
      const visible = found.slice(0, state.rows);
      // What is chosen from a list is the same in every row, and narrow screens have no room for it.
      shown.forEach(([name], column) => { head.cells[column].hidden = name in chosen; });
      const axes = {};
      for (const [name, kind] of shown) {
        if (kind !== "ratio") continue;
        const ends = visible.map((i) => table.at(name)[i]).filter((v) => v).flatMap((v) => [v[1], v[2]]);
        axes[name] = [Math.max(Math.min(...ends, 0.97), 1 / 16), Math.min(Math.max(...ends, 1.03), 16)];
      }
      const columnsShown = shown.filter(([name]) => !(name in chosen)).length;
      const below = (i) => prose.filter(([name]) => table.at(name)[i]).map(([name]) =>
        make("tr", { class: "prose" },
          make("td", { colspan: columnsShown }, make("p", { "data-column": name }, table.at(name)[i]))));
      body.replaceChildren(...visible.flatMap((i) => [make("tr", {}, ...shown.map(([name, kind]) => {
        const value = table.at(name)[i];
        const how = name === key ? "key" : KINDS[kind].right ? "n" : null;
        const cell = make("td", { class: how, hidden: name in chosen });
        if (value === null || value === undefined || value === "") return cell;
        if (kind === "samples") {
          cell.append(make("button", { type: "button", "data-samples": value, "aria-label": "samples of this row" }, "∴"));
          return cell;
        }
        const text = KINDS[kind].text(value);
        if (kind === "ratio") { cell.append(interval(value, axes[name])); cell.title = `${text}, ${value[3]}`; }
        if (kind === "share") cell.append(bar(value));
        if (kind === "text" && text.length > LONG_TEXT) cell.classList.add("long");
        if (value === "failed" || value === "crashed" || value === "differs from itself") cell.classList.add("bad");
        cell.append(text);
        return cell;
      })), ...below(i)]));
      count.textContent = `${found.length} of ${mine.length} rows`;
      more.hidden = found.length <= state.rows;
      more.textContent = `show all ${found.length}`;
    }
    draw();
  }

  // --- Figures ----------------------------------------------------------------------------------
  for (const figure of all("figure[data-figure]")) {
    const drawn = data.figures[figure.dataset.figure] ?? "";
    figure.append(drawn.startsWith("<svg")
      ? make("img", { src: `data:image/svg+xml,${encodeURIComponent(drawn)}`, alt: "" }) // the figure has the label
      : make("p", { class: "note" }, drawn)); // why there is nothing to draw
  }

  // --- Samples behind a number ------------------------------------------------------------------
  const dialog = document.getElementById("samples");
  const rowsTable = data.tables.rows;
  const placeOf = new Map(rowsTable ? rowsTable.at("samples").map((id, i) => [id, i]) : []);
  const field = (id, name) => rowsTable.at(name)[placeOf.get(id)];
  const samplesOf = (id) => {
    const [origin, step, parts, rounds, throttled] = data.samples[id];
    const slow = new Set(throttled);
    return parts.map((part, i) => ({
      round: rounds ? rounds[i] : i, time: origin + part * step, slow: slow.has(i),
    }));
  };
  const medianOf = (values) => {
    const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  };
  const nameOf = (id) =>
    ["strategy", "role", "schedule"].map((name) => field(id, name)).filter((text) => text).join(" ");

  // Points in the order measured; beyond the middle 98 % they stand at the edge.
  function scatter(series, label, format, line) {
    const width = 640, height = 210, left = 78, bottom = 26;
    const values = series.flatMap((one) => one.points.map((p) => p.value)).sort((a, b) => a - b);
    const quantile = (q) => values[Math.min(values.length - 1, Math.floor(q * values.length))];
    let low = Math.min(quantile(0.01), line ?? Infinity), high = Math.max(quantile(0.99), line ?? -Infinity);
    const margin = (high - low) * 0.15 || Math.abs(high) * 0.01 || 1;
    [low, high] = [low - margin, high + margin];
    const last = Math.max(1, ...series.flatMap((one) => one.points.map((p) => p.round)));
    const x = (round) => left + (round / last) * (width - left - 10);
    const y = (value) =>
      height - bottom - ((Math.min(Math.max(value, low), high) - low) / (high - low)) * (height - bottom - 26);
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    svg.append(make("text", { x: 4, y: 12 }, label));
    for (let i = 0; i <= 4; i++) {
      const value = low + ((high - low) * i) / 4;
      svg.append(make("line", { class: "axis", x1: left, x2: width - 10, y1: y(value), y2: y(value) }),
        make("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, format(value)));
    }
    for (const [round, anchor] of [[0, "start"], [Math.round(last / 2), "middle"], [last, "end"]]) {
      svg.append(make("text", { x: x(round), y: height - 8, "text-anchor": anchor }, `round ${round}`));
    }
    if (line !== undefined) svg.append(make("line", { class: "one", x1: left, x2: width - 10, y1: y(line), y2: y(line) }));
    for (const one of series) {
      const middle = medianOf(one.points.filter((p) => !p.slow).map((p) => p.value).concat(
        one.points.every((p) => p.slow) ? one.points.map((p) => p.value) : []));
      svg.append(make("line", { x1: left, x2: width - 10, y1: y(middle), y2: y(middle), stroke: one.ink,
        "stroke-width": 1.5, "stroke-dasharray": one.hollow ? "5 4" : null }));
      for (const p of one.points) {
        const at = make("circle", { cx: x(p.round), cy: y(p.value), r: 2.6, stroke: one.ink,
          fill: one.hollow || p.slow ? "none" : one.ink, "fill-opacity": 0.6 });
        at.append(document.createElementNS("http://www.w3.org/2000/svg", "title"));
        at.firstChild.textContent = `${one.name}, round ${p.round}: ${format(p.value)}${p.slow ? ", throttled" : ""}`;
        svg.append(at);
      }
    }
    return svg;
  }

  function openSamples(id, against) {
    if (!data.samples[id] || !placeOf.has(id)) return;
    const same = ["gpu", "app", "size", "cache", "launch"];
    const others = [...placeOf.keys()].filter((other) =>
      other && other !== id && data.samples[other] && same.every((name) => field(other, name) === field(id, name)));
    const reference = against && data.samples[against] ? against
      : others.find((o) => field(o, "strategy") === "baseline" && field(o, "role") === field(id, "role")) ?? "";
    const select = make("select", { "aria-label": "compare with" }, make("option", { value: "" }, "nothing"),
      ...others.map((other) => make("option", { value: other }, nameOf(other))));
    select.value = reference;
    const close = make("button", { type: "button", class: "close", autofocus: true }, "close");
    close.addEventListener("click", () => dialog.close());
    const place = make("div");
    const title = make("h2", { id: "samples-title" },
      `${field(id, "app")}, ${field(id, "size")}: ${nameOf(id)}`);
    const facts = ["cache", "launch", "time", "runs", "of floor", "speed-up", "consists of", "config", "registers",
      "shared B", "blocks/SM", "in flight B/SM"].map((name) => {
      const value = field(id, name), kind = rowsTable.columns[rowsTable.names.indexOf(name)][1];
      return value === null || value === "" ? null : `${name} ${KINDS[kind].text(value)}`;
    }).filter((text) => text).join("; ");
    const redraw = () => {
      const mine = samplesOf(id), other = select.value ? samplesOf(select.value) : [];
      const points = (samples) => samples.map((s) => ({ ...s, value: s.time }));
      const series = [{ name: nameOf(id), ink: "currentColor", points: points(mine) }];
      if (other.length) series.push({ name: nameOf(select.value), ink: "#c06000", hollow: true, points: points(other) });
      const drawn = [scatter(series, "time of each sample: ● this row" + (other.length ? ", ○ the other" : ""), milliseconds)];
      const byRound = new Map(other.filter((s) => !s.slow).map((s) => [s.round, s.time]));
      const pairs = mine.filter((s) => !s.slow && byRound.has(s.round))
        .map((s) => ({ round: s.round, value: byRound.get(s.round) / s.time }));
      if (pairs.length) {
        const label = `time of the other / time of this, by round; median ${medianOf(pairs.map((p) => p.value)).toFixed(4)}`;
        drawn.push(scatter([{ name: "ratio", ink: "currentColor", points: pairs }], label, (v) => `${v.toFixed(3)}×`, 1));
      }
      place.replaceChildren(...drawn);
    };
    select.addEventListener("change", redraw);
    dialog.replaceChildren(close, title, make("p", { class: "note" }, facts),
      make("label", { class: "note" }, "beside ", select), place);
    redraw();
    dialog.showModal();
  }

  // --- Putting it to work -----------------------------------------------------------------------
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      observer.unobserve(entry.target);
      show(entry.target);
    }
  }, { rootMargin: NEAR });
  all(".view").forEach((view) => observer.observe(view));
  window.addEventListener("beforeprint", () => {
    all(".view").filter((view) => !view.closest("details:not([open])")).forEach(show);
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-samples]");
    if (button) openSamples(button.dataset.samples, button.dataset.against);
    else if (event.target === dialog) dialog.close();
  });

  const theme = document.getElementById("theme");
  const dark = () => document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => { theme.textContent = dark() ? "light" : "dark"; theme.setAttribute("aria-label", `use ${theme.textContent} colours`); };
  theme.hidden = false;
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; nameTheme(); });
  nameTheme();
  document.documentElement.dataset.ready = "yes";
})();
