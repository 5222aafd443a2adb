/* SPDX-License-Identifier: Apache-2.0 */
/* The page is whole without this. It adds curves to hover and zoom (uPlot), values under the
 * pointer, and saving a chart's figures as CSV. Text of the data goes into the page by
 * textContent alone. */
(function () {
  'use strict';
  const root = document.documentElement;
  const dashes = { c2: [9, 3], c3: [3, 3], c4: [12, 3, 3, 3], c5: [6, 6], cx: [2, 4], again: [8, 4, 2, 4] };
  let drawn = 0, errors = 0;
  window.addEventListener('error', () => { root.dataset.errors = String(++errors); });
  root.dataset.errors = '0';

  const color = (name) => getComputedStyle(root).getPropertyValue('--' + name).trim();
  const three = (value) => String(Number(value.toPrecision(3)));
  function duration(us) {
    return us < 1000 ? three(us) + ' \u00b5s' : us < 1e6 ? three(us / 1e3) + ' ms' : three(us / 1e6) + ' s';
  }
  /* 0.99912 as 99.912 %: as many digits as tell it from its neighbours. */
  function percent(nines) {
    const digits = Math.max(0, Math.floor(nines));
    return (100 * (1 - Math.pow(10, -nines))).toFixed(digits) + ' %';
  }

  /* --- saving ----------------------------------------------------------------------- */
  function cell(value) {
    if (value === null) return '';
    if (typeof value === 'number') return String(value);
    const text = (/^[=+\-@\t\r]/.test(value) ? "'" : '') + value;
    return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }
  function csv(sheet) {
    const lines = [sheet.columns.map((column) => cell(column.name))];
    for (let row = 0; row < sheet.data[0].length; row++) lines.push(sheet.data.map((column) => cell(column[row])));
    return lines.map((line) => line.join(',') + '\r\n').join('');
  }
  function save(name, text) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  /* --- values under the pointer ------------------------------------------------------ */
  function hover() {
    const tip = document.createElement('div');
    tip.className = 'tip';
    tip.hidden = true;
    document.body.append(tip);
    for (const element of document.querySelectorAll('.chart [title]')) {
      element.dataset.tip = element.title;
      element.removeAttribute('title');
    }
    for (const title of document.querySelectorAll('.chart svg title')) {
      title.parentNode.dataset.tip = title.textContent;
      title.remove();
    }
    const show = (event) => {
      const over = event.target.closest ? event.target.closest('[data-tip]') : null;
      tip.hidden = !over;
      if (!over) return;
      tip.textContent = over.dataset.tip;
      const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
      const below = event.clientY + 18 + tip.offsetHeight < innerHeight;
      tip.style.left = Math.max(8, left) + 'px';
      tip.style.top = (below ? event.clientY + 18 : event.clientY - 10 - tip.offsetHeight) + 'px';
    };
    for (const kind of ['pointermove', 'pointerdown']) document.addEventListener(kind, show);
  }

  /* --- curves ------------------------------------------------------------------------ */
  /* Round values between two logarithms, as logarithms. */
  function round(low, high) {
    const from = Math.pow(10, low), to = Math.pow(10, high);
    if (to < 5 * from) {
      const least = (to - from) / 8, power = Math.pow(10, Math.floor(Math.log10(least)));
      const step = power * [1, 2, 5, 10].find((multiple) => multiple * power >= least * 0.9999);
      const ticks = [];
      for (let k = Math.ceil(from / step); k * step <= to; k++) ticks.push(Math.log10(k * step));
      return ticks;
    }
    let ticks = [];
    for (const multiples of [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 4, 6, 8], [1, 2, 3, 5], [1, 2, 5], [1, 3], [1]]) {
      ticks = [];
      for (let decade = Math.floor(low); decade <= high; decade++) {
        for (const multiple of multiples) {
          const at = decade + Math.log10(multiple);
          if (at >= low && at <= high) ticks.push(at);
        }
      }
      if (ticks.length <= 7) break;
    }
    return ticks;
  }
  /* Where the shortest trial has fewer than ten samples beyond. */
  function sure(sheet) {
    let least = Infinity;
    sheet.columns.forEach((column, c) => {
      if (column.arm === undefined) return;
      const last = sheet.data[c].reduce((most, us, row) => us === null ? most : Math.max(most, sheet.data[0][row]), 0);
      if (last > 0) least = Math.min(least, last);
    });
    return Math.log10(Math.max(least / 10, 1));
  }
  function shade(u, from) {
    const left = Math.max(u.valToPos(from, 'x', true), u.bbox.left);
    u.ctx.save();
    u.ctx.globalAlpha = 0.11;
    u.ctx.fillStyle = color('dim');
    u.ctx.fillRect(left, u.bbox.top, Math.max(0, u.bbox.left + u.bbox.width - left), u.bbox.height);
    u.ctx.restore();
  }
  function say(readout, u, sheet, arms) {
    const at = u.cursor.idx;
    readout.textContent = 'Drag to look closer, double-click for the whole.';
    if (at === null || at === undefined) return;
    readout.textContent = percent(u.data[0][at]) + ' take at most:';
    sheet.columns.forEach((column, c) => {
      if (column.arm === undefined || column.trial || sheet.data[c][at] === null) return;
      const name = document.createElement('b');
      name.className = arms[column.arm].className;
      name.textContent = ' ' + column.name + ' ' + duration(sheet.data[c][at]) + ' ';
      readout.append(name);
    });
  }
  function curves(figure, sheet) {
    const arms = figure.querySelector('.legend').children;
    const order = sheet.columns.map((column, c) => c).slice(2);
    order.sort((a, b) => (sheet.columns[b].trial ? 1 : 0) - (sheet.columns[a].trial ? 1 : 0) || a - b);
    const log = (values) => values.map((value) => value > 0 ? Math.log10(value) : null);
    const place = document.createElement('div'), readout = document.createElement('p');
    place.className = 'curves';
    readout.className = 'readout';
    figure.querySelector('.still').after(place, readout);
    const from = sure(sheet);
    const size = () => ({ width: Math.max(240, place.clientWidth), height: place.clientWidth < 560 ? 300 : 400 });
    const line = { stroke: () => color('dim'), grid: { stroke: () => color('grid'), width: 1 }, ticks: { show: false },
      font: '12.5px system-ui, sans-serif' };
    const u = new window.uPlot({
      ...size(), legend: { show: false }, padding: [10, 22, 0, 0],
      scales: { x: { time: false }, y: { range: (v, low, high) => [low - 0.02, high + 0.02] } },
      axes: [
        { ...line, label: 'percentile, on a scale of log 1/(1-p)', labelFont: line.font, labelSize: 22, size: 34,
          splits: (v, axis, low, high) => [0, Math.log10(2), 1, 2, 3, 4, 5, 6, 7, 8, 9].filter((x) => x >= low && x <= high).length > 1
            ? [0, Math.log10(2), 1, 2, 3, 4, 5, 6, 7, 8, 9].filter((x) => x >= low && x <= high)
            : [low, (low + high) / 2, high],
          values: (v, at) => at.map((x) => percent(x).replace(/(\.\d*?)0+ /, '$1 ').replace('. ', ' ')) },
        { ...line, size: 62, splits: (v, axis, low, high) => round(low, high),
          values: (v, at) => at.map((y) => duration(Math.pow(10, y))) },
      ],
      series: [{}].concat(order.map((c) => {
        const column = sheet.columns[c], names = [...arms[column.arm].classList], name = names[0];
        return { stroke: () => color(name) + (column.trial ? '59' : ''), width: column.trial ? 1 : 2.5,
          dash: column.trial ? undefined : dashes[names[names.length - 1]], points: { show: false } };
      })),
      cursor: { y: false, points: { size: (v, s) => s > 0 && sheet.columns[order[s - 1]].trial ? 0 : 8 } },
      hooks: { drawClear: [(v) => shade(v, from)], setCursor: [(v) => say(readout, v, sheet, arms)] },
    }, [log(sheet.data[0])].concat(order.map((c) => log(sheet.data[c]))), place);
    new ResizeObserver(() => u.setSize(size())).observe(place);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => u.redraw(false));
    say(readout, u, sheet, arms);
  }

  function start(figure) {
    const sheet = JSON.parse(document.getElementById('data-' + figure.id).textContent);
    const button = figure.querySelector('button.save');
    button.hidden = false;
    button.addEventListener('click', () => save(figure.id + '.csv', csv(sheet)));
    if (figure.classList.contains('live') && window.uPlot) curves(figure, sheet);
    drawn++;
  }
  if (window.uPlot) root.classList.add('js');
  for (const figure of document.querySelectorAll('figure.chart')) start(figure);
  hover();
  root.dataset.drawn = String(drawn);
}());
