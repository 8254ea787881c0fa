// @ts-check
// One stock level: its figures, their correction and the ledger of movements.
import { get, put, read } from '../lib/api.js';
import { dateTime, money, number } from '../lib/format.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { RecordPage } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { Card, Facts } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/inventories/{id}', 'get'>['inventory']} Level */

/** Quantity and price of a level. @type {import('../lib/record.js').Resource} */
export const resource = {
  title: 'nav.stockItem',
  fields: [
    { name: 'quantity', kind: 'number', required: true }, { name: 'price', kind: 'money' },
    { name: 'comment', kind: 'text', max: 250, wide: true, hint: 'stock.commentHint', when: () => can('edit-inventories') },
  ],
  async read(id, options) {
    const { body, etag } = await read('/api/inventories/{id}', { id }, options);
    return { record: body.inventory, etag };
  },
  update: (id, changes, options) => put('/api/inventories/{id}', { id }, changes, options),
};

/** @param {import('../lib/history.js').Entry} entry */
const cause = (entry) => entry.order_id && html`<${Link} to=${`/orders/${entry.order_id}`}>${t('palette.order', { id: entry.order_id })}<//>`;

/** @param {{ params: { id: string } }} props */
export default function StockItem({ params: { id } }) {
  return html`<${RecordPage} resource=${resource} id=${id} to="/stock" crumb="nav.stock" edits=${can('edit-inventories')} card=${t('nav.correct')} view=${(/** @type {Level} */ level) => ({
    title: level.nomenclature.name, note: level.warehouse.name, more: cause,
    history: (/** @type {number} */ page, /** @type {AbortSignal} */ signal) => get('/api/inventories/{id}/history', { id, page, per_page: 25 }, { signal }),
    side: html`<${Card}><${Facts} rows=${[
      [t('column.quantity'), number(level.quantity)], [t('field.reserved'), number(level.reserved)],
      [t('column.available'), html`<b>${number(level.available)}</b>`], [t('field.price'), money(level.price)],
      [t('field.article'), html`<${Link} to=${`/items/${level.nomenclature.id}`}>${level.nomenclature.article ?? t('nav.item')}<//>`],
      [t('column.updated_at'), dateTime(level.updated_at)],
    ]} /><//>`,
  })} />`;
}
