// @ts-check
// One stock level: its figures, their correction and the ledger of movements.
import { get, put, read } from '../lib/api.js';
import { toast } from '../lib/dialog.js';
import { dateTime, money, number } from '../lib/format.js';
import { RecordForm } from '../lib/form.js';
import { History } from '../lib/history.js';
import { html, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { Card, Facts, Loading, Page } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/inventories/{id}', 'get'>['inventory']} Level */

/** @param {{ params: { id: string } }} props */
export default function StockItem({ params }) {
  const id = Number(params.id);
  const loaded = useLoad((signal) => read('/api/inventories/{id}', { id }, { signal }), [id]);
  const [round, setRound] = useState(0);
  const refresh = () => {
    loaded.reload();
    setRound((/** @type {number} */ n) => n + 1);
  };
  const cause = (/** @type {import('../lib/history.js').Entry} */ entry) => entry.order_id
    && html`<${Link} to=${`/orders/${entry.order_id}`}>${t('palette.order', { id: entry.order_id })}<//>`;
  return html`<${Loading} of=${loaded}>${(/** @type {{ body: { inventory: Level }, etag: string | null }} */ { body: { inventory: level }, etag }) => html`
    <${Page} title=${level.nomenclature.name} crumbs=${[{ label: t('nav.stock'), to: '/stock' }]} note=${level.warehouse.name} />
    <div class="columns">
      <div><${History} round=${round} more=${cause} load=${(/** @type {number} */ page, /** @type {AbortSignal} */ signal) => get('/api/inventories/{id}/history', { id, page, per_page: 25 }, { signal })} /></div>
      <div>
        <${Card}><${Facts} rows=${[
          [t('column.quantity'), number(level.quantity)], [t('column.reserved'), number(level.reserved)],
          [t('column.available'), html`<b>${number(level.available)}</b>`], [t('field.price'), money(level.price)],
          [t('column.article'), html`<${Link} to=${`/items/${level.nomenclature.id}`}>${level.nomenclature.article ?? t('nav.item')}<//>`],
          [t('column.updated_at'), dateTime(level.updated_at)],
        ]} /><//>
        ${can('edit-inventories') && html`<${Card} title=${t('nav.correct')}><${StockForm} level=${level} etag=${etag} done=${refresh} /><//>`}
      </div>
    </div>`}<//>`;
}

/** @type {import('../lib/form.js').FieldSpec[]} */
const fields = [
  { name: 'quantity', kind: 'number', required: true },
  { name: 'price', kind: 'money' },
];

/** Changes quantity and price of a level. @param {{ level: Level, etag: string | null, done: () => void }} props */
export function StockForm({ level, etag, done }) {
  const save = async (/** @type {Record<string, any>} */ changes, /** @type {any} */ _values, /** @type {string | undefined} */ match) => {
    await put('/api/inventories/{id}', { id: level.id }, changes, match ? { match } : {});
    toast(t('saved'));
    done();
  };
  const reread = async () => {
    const newer = await read('/api/inventories/{id}', { id: level.id });
    return { record: newer.body.inventory, etag: newer.etag };
  };
  return html`<${RecordForm} fields=${fields} record=${level} etag=${etag} save=${save} reread=${reread} />`;
}
