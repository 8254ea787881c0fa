// @ts-check
// What waits today: orders by state, unpaid ones, low stock, tasks, sales. Each figure leads to its list.
import { get } from '../lib/api.js';
import { Chart, pointsOf } from '../lib/chart.js';
import { ago, dateTime, money, number, phone } from '../lib/format.js';
import { cx, html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { Link } from '../lib/router.js';
import { can, user } from '../lib/session.js';
import { Badge, Card, Empty, Loading, Page } from '../lib/ui.js';

/** Stock below this number of units is low. */
export const LOW_STOCK = 5;
/** Numbers of the order statuses with a fixed meaning. */
const PAID = 22;

/** @typedef {{ label: string, to: string, total: number, attention: boolean }} Figure */

/** Counts rows: the pagination of a page with one row. @param {any} path @param {Record<string, unknown>} query @param {AbortSignal} signal */
const count = async (path, query, signal) => /** @type {any} */ (await get(path, { ...query, per_page: 1 }, { signal })).pagination.total;

/** @param {AbortSignal} signal @returns {Promise<Figure[]>} */
async function figures(signal) {
  /** @type {[string, string, boolean, string, Record<string, unknown>, string][]} */
  const wanted = [
    ['today.paid', `/orders?status_id=${PAID}`, true, '/api/tables/orders', { status_id: [PAID] }, 'view-orders'],
    ['today.fresh', '/orders?status_id=1', true, '/api/tables/orders', { status_id: [1] }, 'view-orders'],
    ['today.work', '/orders?status_id=3', false, '/api/tables/orders', { status_id: [3] }, 'view-orders'],
    ['today.ready', '/orders?status_id=4', false, '/api/tables/orders', { status_id: [4] }, 'view-orders'],
    ['today.unpaid', '/orders?status_id=2', false, '/api/tables/orders', { status_id: [2] }, 'view-orders'],
    ['today.low', `/stock?quantity_lt=${LOW_STOCK}`, true, '/api/tables/inventories', { quantity_lt: LOW_STOCK }, 'view-inventories'],
    ['today.tasks', '/tasks?status_id=1&status_id=2', false, '/api/tables/tasks', { status_id: [1, 2] }, 'view-tasks'],
    ['today.calls', '/agent-actions', true, '/api/agent-actions', { state: 'proposed' }, 'view-agent-actions'],
  ];
  return Promise.all(wanted.filter(([, , , , , permission]) => can(permission)).map(async ([label, to, attention, path, query]) => {
    const total = await count(path, query, signal);
    return { label: t(label), to, total, attention: attention && total > 0 };
  }));
}

export default function Today() {
  const employee = user.use();
  const loaded = useLoad(figures, [employee?.id]);
  return html`<${Page} title=${t('today.hello', { name: employee?.first_name ?? '' })} />
    <${Loading} of=${loaded} lines=${2}>${(/** @type {Figure[]} */ list) => (list.length
      ? html`<div class="tiles">${list.map((figure) => html`<${Link} key=${figure.to} to=${figure.to} class=${cx('tile', figure.attention && 'attention')}>
          <span>${figure.label}</span><b>${figure.total}</b><//>`)}</div>`
      : !can('view-statistics') && html`<${Empty} icon="key" title=${t('today.nothing')} text=${t('today.nothingText')} />`)}<//>
    <div class="halves">
      ${can('view-statistics') && html`<${Sales} />`}
      ${can('view-orders') && html`<${Waiting} />`}
      ${can('view-tasks') && html`<${Tasks} id=${employee?.id} />`}
      ${can('view-inventories') && html`<${Low} />`}
    </div>`;
}

/** Revenue of the last thirty days. */
function Sales() {
  const loaded = useLoad((signal) => get('/api/reports/orders', {}, { signal }), []);
  return html`<${Card} title=${t('today.sales')} actions=${html`<${Link} to="/reports">${t('nav.reports')}<//>`}>
    <${Loading} of=${loaded} lines=${3}>${(/** @type {import('../types/shapes').Answered<'/api/reports/orders', 'get'>} */ { report }) => html`
      <p><b>${money(report.total.revenue)}</b> <span class="faint">${t('nav.orders')}: ${number(report.total.orders)}</span></p>
      <${Chart} small title=${t('today.sales')} points=${pointsOf(report.rows, (row) => row.revenue)} text=${money} column=${t('chart.day')} />`}<//>
  <//>`;
}

/** The oldest paid orders. */
function Waiting() {
  const loaded = useLoad((signal) => get('/api/orders', { status_id: [PAID], order_by: 'id_asc', per_page: 8 }, { signal }), []);
  return html`<${Card} title=${t('today.oldest')} flush actions=${html`<${Link} to=${`/orders?status_id=${PAID}`}>${t('all')}<//>`}>
    <${Loading} of=${loaded} lines=${4}>${(/** @type {any} */ { orders }) => (orders.length
      ? html`<ul class="list">${orders.map((/** @type {any} */ order) => html`<li key=${order.id}>
          <div class="grow"><${Link} to=${`/orders/${order.id}`}><b>№ ${order.id}</b><//> ${order.counterparty.name || phone(order.counterparty.phone)}
            <p class="faint">${ago(order.created_at)} · ${order.delivery_type.name}</p></div>
          <b class="nowrap">${money(order.amount_due)}</b></li>`)}</ul>`
      : html`<${Empty} icon="check" title=${t('today.oldestNone')} />`)}<//>
  <//>`;
}

/** Open tasks of the employee. @param {{ id: number | undefined }} props */
function Tasks({ id }) {
  const loaded = useLoad((signal) => get('/api/tasks', { responsible_id: [id], status_id: [1, 2], order_by: 'deadline_asc', per_page: 8 }, { signal }), [id]);
  return html`<${Card} title=${t('today.mine')} flush actions=${html`<${Link} to="/tasks">${t('all')}<//>`}>
    <${Loading} of=${loaded} lines=${4}>${(/** @type {any} */ { tasks }) => (tasks.length
      ? html`<ul class="list">${tasks.map((/** @type {any} */ task) => html`<li key=${task.id}>
          <div class="grow"><${Link} to=${`/tasks/${task.id}`}><b>${task.title}</b><//><p class="faint">${task.deadline ? dateTime(task.deadline) : ''}</p></div>
          <${Badge} kind=${task.deadline && new Date(task.deadline) < new Date() ? 'bad' : 'plain'}>${task.status.name}<//></li>`)}</ul>`
      : html`<${Empty} icon="tasks" title=${t('today.mineNone')} />`)}<//>
  <//>`;
}

/** The scarcest stock levels. */
function Low() {
  const loaded = useLoad((signal) => get('/api/inventories', { quantity_lt: LOW_STOCK, order_by: 'quantity_asc', per_page: 8 }, { signal }), []);
  return html`<${Card} title=${t('today.scarce')} flush actions=${html`<${Link} to=${`/stock?quantity_lt=${LOW_STOCK}`}>${t('all')}<//>`}>
    <${Loading} of=${loaded} lines=${4}>${(/** @type {any} */ { inventories }) => (inventories.length
      ? html`<ul class="list">${inventories.map((/** @type {any} */ level) => html`<li key=${level.id}>
          <div class="grow"><${Link} to=${`/stock/${level.id}`}><b>${level.nomenclature.name}</b><//><p class="faint">${level.nomenclature.article ?? ''} · ${level.warehouse.name}</p></div>
          <${Badge} kind=${level.available > 0 ? 'warn' : 'bad'}>${level.available}<//></li>`)}</ul>`
      : html`<${Empty} icon="check" title=${t('today.scarceNone')} />`)}<//>
  <//>`;
}
