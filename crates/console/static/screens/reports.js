// @ts-check
// Reports: sales of a period by day and by hour, returns, and the items that sold best. The address has the period.
import { get } from '../lib/api.js';
import { Chart, pointsOf } from '../lib/chart.js';
import { date, dayBefore, money, number } from '../lib/format.js';
import { html, useId } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { Link, place, setQuery } from '../lib/router.js';
import { Card, Empty, Loading, Page, Tabs } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/reports/orders', 'get'>['report']} Sales */
/** @typedef {import('../types/shapes').Answered<'/api/reports/items', 'get'>['report']['items']} Items */
/** @typedef {import('../lib/chart.js').SalesRow} SalesRow */

/** Periods by their word in the address. A number is that of days up to today. */
const PERIODS = ['today', '7', '30', '90', 'own'];
/** The longest period that the service sums by hour. */
const HOURS_LIMIT = 31;

/** Charts by title: the value of a row, whether it is money, and whether it is drawn as a line. @type {[string, (row: SalesRow) => string | number | null, boolean, boolean][]} */
const CHARTS = [
  ['report.revenue', (row) => row.revenue, true, false], ['report.orders', (row) => row.orders, false, true],
  ['report.average', (row) => row.average, true, true], ['report.refunded', (row) => row.refunded, true, false],
];

/** The date if it is one. @param {string | null} text @param {number} before days before today, if it is none */
const dateOr = (text, before) => (/^\d{4}-\d\d-\d\d$/.test(text ?? '') && Date.parse(text ?? '') ? text ?? '' : dayBefore(before));

export default function Reports() {
  const { query } = place.use();
  const word = PERIODS.includes(query.get('period') ?? '') ? query.get('period') ?? '' : '30';
  const length = word === 'today' ? 1 : Number(word);
  const [from, to] = word === 'own' ? [dateOr(query.get('from'), 29), dateOr(query.get('to'), 0)] : [dayBefore(length - 1), dayBefore()];
  const by = query.get('by') === 'quantity' ? 'quantity' : 'revenue';
  const tabs = PERIODS.map((period) => ({
    to: `/reports?period=${period}&by=${by}${period === 'own' ? `&from=${from}&to=${to}` : ''}`,
    label: Number(period) ? t('report.days', { n: Number(period) }) : t(`report.period.${period}`), current: period === word,
  }));
  return html`<${Page} title=${t('nav.reports')} note=${`${date(from)} – ${date(to)}`} />
    <${Tabs} label=${t('report.period')} tabs=${tabs} />
    ${word === 'own' && html`<${Period} key=${`${from} ${to}`} from=${from} to=${to} />`}
    <${Report} key=${`${from}/${to}`} from=${from} to=${to} by=${by} query=${query} />`;
}

/** @param {{ from: string, to: string, by: 'revenue' | 'quantity', query: URLSearchParams }} props */
function Report({ from, to, by, query }) {
  const hourly = (Date.parse(to) - Date.parse(from)) / 86400000 < HOURS_LIMIT;
  const sales = useLoad((signal) => Promise.all(['day', ...(hourly ? ['hour'] : [])].map(async (rows) => (
    await get('/api/reports/orders', { from, to, by: rows }, { signal })).report)), []);
  const items = useLoad(async (signal) => (await get('/api/reports/items', { from, to, order_by: by }, { signal })).report.items, [by]);
  const orders = /** @type {const} */ (['revenue', 'quantity']).map((one) => ({
    to: `/reports?${new URLSearchParams({ ...Object.fromEntries(query), by: one })}`, label: t(`report.bestBy.${one}`), current: one === by,
  }));
  return html`<${Loading} of=${sales}>${(/** @type {Sales[]} */ [byDay, byHour]) => byDay && html`<div><${Totals} total=${byDay.total} />
      ${byDay.rows.length > 1 && html`<${Charts} title=${t('report.byDay')} column=${t('chart.day')} rows=${byDay.rows} />`}
      ${byHour ? html`<${Charts} title=${t('report.byHour')} column=${t('report.hour')} rows=${byHour.rows} />` : html`<p class="note">${t('report.hoursLimit', { n: HOURS_LIMIT })}</p>`}</div>`}<//>
    <${Card} title=${t('report.best')} flush actions=${html`<${Tabs} label=${t('report.bestBy')} tabs=${orders} />`}>
      <${Loading} of=${items}>${(/** @type {Items} */ list) => html`<${Best} items=${list} />`}<//><//>`;
}

/** Asks for the days of an own period. @param {{ from: string, to: string }} props */
function Period({ from, to }) {
  const id = useId('period');
  const submit = (/** @type {any} */ event) => {
    event.preventDefault();
    const { elements } = event.target;
    setQuery({ from: elements.from.value, to: elements.to.value }, { push: true });
  };
  return html`<form class="row" onSubmit=${submit}>${Object.entries({ from, to }).map(([name, value]) => html`<label class="inline-label" key=${name} for=${`${id}-${name}`}>${t(name === 'from' ? 'table.from' : 'table.to')}
      <input type="date" id=${`${id}-${name}`} name=${name} required value=${value} /></label>`)}
    <button class="button">${t('apply')}</button></form>`;
}

/** @param {{ total: Sales['total'] }} props */
const Totals = ({ total }) => html`<div class="tiles">${[
  ['report.revenue', money(total.revenue)], ['report.orders', number(total.orders)], ['report.average', money(total.average)],
  ['report.refunded', money(total.refunded)], ['report.refunds', number(total.refunds)],
].map(([label = '', text]) => html`<div class="tile" key=${label}><span>${t(label)}</span><b>${text}</b></div>`)}</div>`;

/** Each sum of the rows as a chart; one that is zero everywhere is left out, beside the first. @param {{ title: string, column: string, rows: SalesRow[] }} props */
const Charts = ({ title, column, rows }) => html`<h2>${title}</h2><div class="halves">${CHARTS.map(([label, value, sum, line]) => {
  const points = pointsOf(rows, value);
  return (label === 'report.revenue' || points.some((point) => point.value > 0)) && html`<${Card} key=${label} title=${t(label)}>
    <${Chart} title=${`${t(label)}, ${title.toLowerCase()}`} points=${points} text=${sum ? money : number} column=${column} line=${line} /><//>`;
})}</div>`;

/** @param {{ items: Items }} props */
function Best({ items }) {
  if (!items.length) return html`<${Empty} icon="box" title=${t('report.bestNone')} />`;
  return html`<div class="table-scroll" tabindex="0" role="group" aria-label=${t('report.best')}><table>
    <thead><tr><th scope="col">${t('field.nomenclature_id')}</th>${['report.units', 'report.revenue', 'report.returned', 'report.perDay', 'column.available', 'report.daysOfStock']
      .map((label) => html`<th scope="col" class="right" key=${label}>${t(label)}</th>`)}</tr></thead>
    <tbody>${items.map((item) => html`<tr key=${item.id}>
      <td><${Link} to=${`/items/${item.id}`}>${item.name}<//> <span class="faint">${item.article}</span></td>
      ${[number(item.quantity), money(item.revenue), number(item.returned), number(Number(item.sold_per_day)), number(item.available), number(item.days_of_stock)]
        .map((text, index) => html`<td class="right" key=${index}>${text}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}
