// @ts-check
// Orders: a queue for each status, the next step of the row as one key.
import { get } from '../lib/api.js';
import { html, useMemo, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { useLoad } from '../lib/load.js';
import { Link, navigate, place } from '../lib/router.js';
import { can } from '../lib/session.js';
import { idOf, Table, textOf } from '../lib/table.js';
import { options, tables } from '../lib/tables.js';
import { Page, Tabs } from '../lib/ui.js';
import { startExport } from './job.js';
import { move, moveLabel, moveOrder, nextOf, STATUS, StatusBadge } from './order-moves.js';

/** Queues in the order of work. */
const QUEUES = [STATUS.paid, STATUS.created, STATUS.work, STATUS.ready, STATUS.unpaid, STATUS.issued, STATUS.canceled];

/** @typedef {import('../lib/table.js').Row} Row */

export default function Orders() {
  const { query } = place.use();
  const [round, setRound] = useState(0);
  const statuses = useLoad(() => options.orderStatuses(), []);
  const counts = useLoad((signal) => Promise.all(QUEUES.slice(0, 5).map(async (status) => {
    const answer = /** @type {any} */ (await get('/api/tables/orders', { status_id: [status], per_page: 1 }, { signal }));
    return /** @type {number} */ (answer.pagination.total);
  })), [round]);
  const chosen = query.getAll('status_id');
  const everything = query.get('queue') === 'all' || chosen.length > 1;
  const status = everything ? null : Number(chosen[0] ?? STATUS.paid);
  const reload = () => { setRound((/** @type {number} */ n) => n + 1); };
  const names = statuses.data ?? [];
  const nameOf = (/** @type {number} */ id) => names.find((one) => one.value === id)?.label ?? t(`order.status.${id}`);
  const fixed = useMemo(() => (status === null ? {} : { status_id: [status] }), [status]);
  const tabs = [...QUEUES.map((id, index) => ({ to: `/orders?status_id=${id}`, label: nameOf(id), count: counts.data?.[index] ?? null, current: status === id })),
    { to: '/orders?queue=all', label: t('all'), current: status === null }];
  const table = useMemo(() => {
    const statusOf = (/** @type {Row} */ row) => {
      const found = status ?? names.find((one) => one.label === textOf(row.status))?.value;
      return found === undefined ? undefined : Number(found);
    };
    const step = (/** @type {Row} */ row) => nextOf(statusOf(row));
    const version = (/** @type {Row} */ row) => `"${row.version}"`;
    return {
      cells: { status: (/** @type {Row} */ row) => html`<${StatusBadge} id=${statusOf(row)} name=${textOf(row.status)} />` },
      actions: can('edit-orders') ? [
        { key: 'n', label: status === null || !nextOf(status) ? t('order.next') : moveLabel(nextOf(status) ?? 0), icon: 'check',
          when: (/** @type {Row} */ row) => step(row) !== undefined,
          run: (/** @type {Row} */ row) => { void moveOrder(idOf(row), step(row) ?? 0, version(row), reload); } },
        ...(status === null || ![STATUS.created, STATUS.paid, STATUS.work].some((one) => one === status) ? [] : [{
          key: 'i', label: moveLabel(STATUS.issued), icon: 'truck',
          run: (/** @type {Row} */ row) => void moveOrder(idOf(row), STATUS.issued, version(row), reload),
        }]),
      ] : [],
      bulk: [
        ...(can('edit-orders') && status !== null && nextOf(status) ? [{
          label: moveLabel(nextOf(status) ?? 0), icon: 'check', each: (/** @type {Row} */ row) => move(idOf(row), nextOf(status) ?? 0, version(row)),
        }] : []),
        { label: t('order.printSlips'), icon: 'print', all: (/** @type {Row[]} */ rows) => void navigate(`/orders/print?id=${rows.map(idOf).join('&id=')}`) },
      ],
    };
  }, [status, names]);
  const create = can('create-orders') && html`<${Link} to="/orders/new" class="button primary"><${Icon} name="plus" size=${16} />${t('do.orderNew')}<//>`;
  const exports = () => void startExport('/api/orders/export', t('order.export'));
  useActions([
    ...tabs.map((tab, index) => ({ id: tab.to, label: `${t('nav.orders')}: ${tab.label}`, icon: 'orders', keys: String(index + 1), run: () => navigate(tab.to) })),
    { id: 'export', label: t('order.export'), icon: 'file', run: exports },
  ]);
  return html`<${Page} title=${t('nav.orders')} actions=${html`
      <button type="button" class="button" onClick=${exports}><${Icon} name="file" size=${16} />${t('order.export')}</button>${create}`} />
    <${Tabs} label=${t('order.queues')} tabs=${tabs} />
    <${Table} key=${status ?? 'all'} id="orders" table=${tables.orders} fixed=${fixed} order=${status !== null && status !== STATUS.issued && status !== STATUS.canceled ? 'id_asc' : 'id_desc'}
      to=${(/** @type {Row} */ row) => `/orders/${idOf(row)}`} actions=${table.actions} bulk=${table.bulk} cells=${table.cells} round=${round}
      empty=${status === null ? { icon: 'orders', title: t('order.none'), text: t('order.noneText'), action: create } : { icon: 'check', title: t('order.queueEmpty'), text: t('order.queueEmptyText'), action: create }} />`;
}
