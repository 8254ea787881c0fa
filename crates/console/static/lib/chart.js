// @ts-check
// Charts drawn as SVG: bars or a line over an axis. Values are reached by keys or pointer, and are listed in a table.
import { compact, date, day } from './format.js';
import { cx, html, useId, useLayoutEffect, useRef, useState } from './html.js';
import { t } from './i18n.js';

/** @typedef {{ label: string, name: string, value: number }} Point `label` is shown at the axis, `name` is the label in full */

const TOP = 6;

/** Returns the distance of the lines: 1, 2 or 5 times a power of ten, so that four reach the value. @param {number} most */
function stepOf(most) {
  const power = 10 ** Math.floor(Math.log10(most / 4));
  return power * ([1, 2, 5].find((one) => one * power * 4 >= most) ?? 10);
}

/** Sizes of a chart. @param {Point[]} points @param {number} width @param {number} height @param {boolean} axis */
function layout(points, width, height, axis) {
  const most = Math.max(0, ...points.map((point) => point.value));
  const whole = points.every((point) => Number.isInteger(point.value));
  const step = most > 0 ? Math.max(stepOf(most), whole ? 1 : 0) : 1;
  const steps = Math.max(1, Math.ceil(most / step));
  const ticks = Array.from({ length: steps + 1 }, (_, index) => index * step);
  const left = axis ? 8 + 7 * Math.max(...ticks.map((tick) => compact(tick).length)) : 0;
  const bottom = height - (axis ? 22 : 2);
  const slot = Math.max(0, width - left) / Math.max(1, points.length);
  return {
    left, bottom, slot, ticks, every: Math.max(1, Math.ceil(56 / Math.max(slot, 1))),
    x: (/** @type {number} */ index) => left + slot * (index + 0.5),
    y: (/** @type {number} */ value) => TOP + (bottom - TOP) * (1 - value / (steps * step)),
  };
}

/**
 * A chart. The arrow keys move along its values, Enter shows them as a table.
 * @param {object} props
 * @param {string} props.title
 * @param {Point[]} props.points
 * @param {(value: number) => string} props.text a value in words
 * @param {string} props.column title of the labels in the table
 * @param {boolean} [props.line] a line instead of bars
 * @param {boolean} [props.small] low, without an axis
 */
export function Chart({ title, points, text, column, line = false, small = false }) {
  const [width, setWidth] = useState(0);
  const [at, setAt] = useState(-1);
  const [listed, setListed] = useState(false);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const id = useId('chart');
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const height = small ? 88 : 210;
  const { left, bottom, slot, ticks, every, x, y } = layout(points, width, height, !small);
  const gap = Math.min(slot * 0.15, 4);
  const highest = [...points].sort((a, b) => b.value - a.value)[0];
  const summary = highest && highest.value > 0 ? t('chart.most', { value: text(highest.value), name: highest.name }) : t('chart.none');
  const current = points[at];
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = points.length - 1;
    const next = { ArrowRight: Math.min(at + 1, last), ArrowLeft: at < 0 ? last : Math.max(at - 1, 0), Home: 0, End: last, Escape: -1 }[event.key];
    if (next !== undefined) setAt(next);
    else if (event.key === 'Enter') setListed(!listed);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const point = (/** @type {any} */ event) => {
    const place = Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left - left) / slot);
    setAt(place >= 0 && place < points.length ? place : -1);
  };
  return html`<figure class=${cx('chart', small && 'small')} tabindex="0" aria-label=${title} aria-describedby=${`${id}-text`} onKeyDown=${keys} onBlur=${() => setAt(-1)}>
    <div ref=${box} class="chart-box">${width > 0 && html`<svg width=${width} height=${height} role="img" aria-label=${`${title}. ${summary}`} onMouseMove=${point} onMouseLeave=${() => setAt(-1)}>
      ${!small && ticks.map((tick) => html`<g key=${tick}><line class="chart-line" x1=${left} x2=${width} y1=${y(tick)} y2=${y(tick)} />
        <text x=${left - 6} y=${y(tick) + 4} text-anchor="end">${compact(tick)}</text></g>`)}
      ${current && html`<rect class="chart-at" x=${left + slot * at} y=${TOP} width=${slot} height=${bottom - TOP} />`}
      ${line && html`<path class="chart-path" d=${points.map(({ value }, index) => `${index ? 'L' : 'M'}${x(index)} ${y(value)}`).join('')} />`}
      ${points.map(({ value }, index) => (line
        ? (points.length <= 62 || index === at) && html`<circle key=${index} class="chart-mark" cx=${x(index)} cy=${y(value)} r=${index === at ? 4.5 : 2.5} />`
        : html`<rect key=${index} class="chart-mark" x=${left + slot * index + gap} y=${y(value)} width=${Math.max(slot - gap * 2, 1)} height=${bottom - y(value)} />`))}
      ${!small && points.map(({ label }, index) => index % every === Math.floor(every / 2) && html`<text key=${index} x=${x(index)} y=${height - 6} text-anchor="middle">${label}</text>`)}
    </svg>`}</div>
    <figcaption class="row spread">
      <span id=${`${id}-text`} class=${cx('chart-text', !current && 'faint')} role="status">${current ? `${current.name}: ${text(current.value)}` : summary}</span>
      <button type="button" class="link" aria-expanded=${listed} aria-label=${`${t(listed ? 'chart.hide' : 'chart.table')}: ${title}`} onClick=${() => setListed(!listed)}>${t(listed ? 'chart.hide' : 'chart.table')}</button>
    </figcaption>
    ${listed && html`<div class="table-scroll tall" tabindex="0" role="group" aria-label=${title}><table>
      <thead><tr><th scope="col">${column}</th><th scope="col" class="right">${title}</th></tr></thead>
      <tbody>${points.map(({ name, value }) => html`<tr key=${name}><td>${name}</td><td class="right">${text(value)}</td></tr>`)}</tbody>
    </table></div>`}
  </figure>`;
}

/** @typedef {import('../types/shapes').Answered<'/api/reports/orders', 'get'>['report']['rows'][number]} SalesRow */

/** The points of a report by day or hour. @param {SalesRow[]} rows @param {(row: SalesRow) => string | number | null} value @returns {Point[]} */
export const pointsOf = (rows, value) => rows.map((row) => ({
  ...(row.date === null ? { label: String(row.hour), name: `${String(row.hour).padStart(2, '0')}:00` } : { label: day(row.date), name: date(row.date) }),
  value: Number(value(row) ?? 0),
}));
