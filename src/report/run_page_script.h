#pragma once
#include <string_view>

namespace mpitron::report {

/// The script that builds the page of `mpitron report` out of its JSON. Everything that comes from
/// files becomes a text node, never HTML.
inline constexpr std::string_view kRunPageScript = R"js(
'use strict';
const runs = JSON.parse(document.getElementById('runs').textContent).runs;

// --- small helpers
function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const runColour = index => colour('--c' + index % 8);
const known = value => value !== null && value !== undefined;
function number(value, digits = 4) {
  if (!known(value)) return '–';
  if (Number.isInteger(value)) return value.toLocaleString('en');
  const size = Math.abs(value);
  return size >= 1e6 || (size < 1e-4 && size > 0) ? value.toExponential(2)
       : size >= 100 ? value.toLocaleString('en', { maximumFractionDigits: 0 })
       : String(Number(value.toPrecision(digits)));
}

// --- what is drawn
const axes = { iteration: 'iterations', tokens: 'tokens', hours: 'hours of training' };
const view = { axis: 'iteration', smoothing: 0, logarithmic: false, hidden: new Set() };
const main = [
  { title: 'Loss; dashed: in validation',
    lines: ['lm loss', 'lm loss validation', 'lm loss test',
      'loss', 'loss validation', 'loss test'],
    smooth: true, loss: true },
  { title: 'Gradient norm', lines: ['grad-norm'], smooth: true },
  { title: 'Learning rate', lines: ['learning-rate'] },
  { title: 'Tokens per second', lines: ['tokens-per-second'], smooth: true, zero: true },
  { title: 'Memory of the fullest rank, GiB', lines: ['memory-mib-max'], scale: 1 / 1024,
    zero: true },
  { title: 'Busy seconds per iteration: slowest and median rank',
    lines: ['busy-seconds-max', 'busy-seconds-median'], zero: true },
  { title: 'Batch size', lines: ['batch-size'], zero: true },
];
const drawn = new Set(main.flatMap(chart => chart.lines).concat(['iteration', 'tokens', 'hours',
  'time', 'iteration-time', 'consumed-samples', 'busy-seconds-min', 'slowest-rank']));
const others = new Set(runs.flatMap(run => Object.keys(run.columns)).filter(n => !drawn.has(n)));
const has = name => runs.some(run => (run.columns[name] || []).some(known));
const changes = name => new Set(runs.flatMap(run => (run.columns[name] || []).filter(known)))
  .size > 1;
const charts = main.filter(chart => chart.lines.some(has) &&
                                    (chart.title !== 'Batch size' || changes('batch-size')))
  .concat([...others].filter(changes).sort().map(name => ({ title: name, lines: [name] })));

// --- points of a line: a rare value is a dot, a missing one among many is a gap
function points(run, name, chart) {
  const x = run.columns[view.axis] || [], y = run.columns[name] || [];
  const found = y.filter(known).length, dense = found > y.length / 2;
  let list = y.map((value, i) => ({ x: x[i], y: known(value) ? value * (chart.scale || 1) : NaN }))
              .filter(p => known(p.x) && (dense || !Number.isNaN(p.y)));
  if (chart.smooth && dense && view.smoothing > 0) {
    let mean = null;
    list = list.map(p => {
      if (Number.isNaN(p.y)) return p;
      mean = mean === null ? p.y : view.smoothing * mean + (1 - view.smoothing) * p.y;
      return { x: p.x, y: mean };
    });
  }
  return { list, dense };
}
function datasets(chart) {
  return runs.flatMap((run, index) => view.hidden.has(index) ? [] :
    chart.lines.map((name, line) => {
      const { list, dense } = points(run, name, chart);
      const few = !dense || list.length < 40;
      return { label: run.name + (chart.lines.length > 1 ? ' · ' + name : ''), data: list,
        borderColor: runColour(index), backgroundColor: runColour(index), borderWidth: 1.6,
        borderDash: line > 0 && name !== 'loss' ? [5, 4] : [],
        pointRadius: few ? 2.5 : 0, pointHoverRadius: 4,
        tension: 0 };
    })).filter(set => set.data.length > 0);
}
function options(chart) {
  const grid = { color: colour('--line'), drawBorder: false, tickLength: 4 };
  const ticks = { color: colour('--soft'), maxTicksLimit: 7, callback: value => number(value, 3),
                  maxRotation: 0 };
  return { animation: false, parsing: false, maintainAspectRatio: false,
    interaction: { mode: 'nearest', axis: 'x', intersect: false },
    plugins: { legend: { display: false }, tooltip: { callbacks: {
      title: items => items.length ? number(items[0].parsed.x) + ' ' + axes[view.axis] : '',
      label: item => item.dataset.label + ': ' + number(item.parsed.y, 6) } } },
    scales: { x: { type: 'linear', grid, ticks, title: { display: true, text: axes[view.axis],
                                                          color: colour('--soft') } },
              y: { type: chart.loss && view.logarithmic ? 'logarithmic' : 'linear', grid, ticks,
                   beginAtZero: Boolean(chart.zero), grace: chart.zero ? '5%' : 0 } } };
}
let shown = [];
function draw() {
  shown.forEach(chart => chart.destroy());
  shown = charts.map(chart => new Chart(chart.canvas,
    { type: 'line', data: { datasets: datasets(chart) }, options: options(chart) }));
  document.querySelectorAll('.legend i').forEach((mark, index) =>
    mark.style.background = runColour(index));
}

// --- tables
function table(head, rows) {
  return element('table', {}, element('thead', {}, element('tr', {},
      ...head.map(text => element('th', { textContent: text })))),
    element('tbody', {}, ...rows.map(([name, ...cells]) => element('tr', {},
      element('th', { scope: 'row', textContent: name }),
      ...cells.map(cell => cell instanceof Node ? element('td', {}, cell)
                                                : element('td', { textContent: cell }))))));
}
function factRows() {
  const facts = (name, show) => [name, ...runs.map(run => show(run.facts, run))];
  const layout = f => Object.entries(f.layout).map(([axis, size]) => `${axis} ${size}`).join(', ');
  return [
    facts('state', (f, run) => element('span', { className: 'state', title: run.reason,
                                                 textContent: run.state })),
    facts('iteration', f => number(f.iteration) +
                            (f.train_iters ? ' of ' + number(f.train_iters) : '')),
    facts('tokens', f => number(f.tokens)),
    facts('last loss', f => number(f.loss, 5)),
    facts('last validation loss', f => number(f.validation_loss, 5)),
    facts('tokens per second', f => number(f.tokens_per_second)),
    facts('TFLOP/s per rank', f => number(f.tflops_per_rank)),
    facts('ranks', f => (f.world_size ? number(f.world_size) : '–') +
                        (layout(f) ? ': ' + layout(f) : '')),
    facts('build', f => f.build || '–'),
    facts('folder', (f, run) => run.path),
  ];
}
function optionRows(kind, keep) {
  const names = [...new Set(runs.flatMap(run => Object.keys(run[kind])))].sort();
  return names.map(name => [name, ...runs.map(run => name in run[kind] ? run[kind][name] : '–')])
              .filter(([, ...values]) => keep(values));
}
const differs = values => new Set(values).size > 1;

// --- the page
function choice(entries, chosen, pick) {
  const buttons = Object.entries(entries).map(([key, text]) => element('button', {
    textContent: text, onclick: () => { pick(key); press(key); draw(); } }));
  const press = key => buttons.forEach((button, i) =>
    button.setAttribute('aria-pressed', Object.keys(entries)[i] === key));
  press(chosen);
  return element('span', { className: 'choice' }, ...buttons);
}
function card(title, ...content) {
  return element('section', { className: 'card' }, element('h2', { textContent: title }),
                 ...content);
}
function folded(title, content) {
  return element('section', { className: 'card' }, element('details', {},
    element('summary', { textContent: title }), content));
}
function build() {
  const page = document.querySelector('main'), head = ['', ...runs.map(run => run.name)];
  const smoothing = element('input', { type: 'range', min: 0, max: 0.99, step: 0.01, value: 0,
    oninput: event => { view.smoothing = Number(event.target.value); draw(); } });
  const logarithmic = element('input', { type: 'checkbox',
    onchange: event => { view.logarithmic = event.target.checked; draw(); } });
  page.append(element('header', {},
    element('div', {}, element('h1', { textContent: document.title }),
      element('div', { className: 'soft', textContent: runs.length === 1
        ? runs[0].path : runs.length + ' runs' })),
    element('div', { className: 'tools' },
      choice({ iteration: 'Iterations', tokens: 'Tokens', hours: 'Time' }, view.axis,
             key => view.axis = key),
      element('label', {}, 'Smooth', smoothing),
      element('label', {}, logarithmic, 'Logarithmic loss'))));
  if (runs.length > 1) {
    page.append(element('div', { className: 'legend' }, ...runs.map((run, index) =>
      element('label', {}, element('input', { type: 'checkbox', checked: true, onchange: event => {
        view.hidden[event.target.checked ? 'delete' : 'add'](index); draw(); } }),
        element('i', {}), run.name))));
  }
  page.append(element('div', { className: 'grid' }, ...charts.map(chart => {
    chart.canvas = element('canvas', { ariaLabel: chart.title });
    const made = card(chart.title, element('div', { className: 'chart' }, chart.canvas));
    made.classList.toggle('wide', Boolean(chart.loss));
    return made;
  })));
  page.append(card('Runs', table(head, factRows())));
  if (runs.length > 1) {
    page.append(card('Options that differ', table(head, optionRows('options', differs))));
  }
  const given = optionRows('given', () => true), all = optionRows('options', () => true);
  if (given.length > 0) page.append(card('Options given', table(head, given)));
  if (all.length > 0) page.append(folded(`All ${all.length} options`, table(head, all)));
}
build();
draw();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
)js";

}  // namespace mpitron::report
