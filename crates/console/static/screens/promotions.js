// @ts-check
// Promotions: announcements of discounts and items. The list, and one promotion with the use of its promo codes.
import { get, post, put, read, remove } from '../lib/api.js';
import { money, number } from '../lib/format.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad } from '../lib/load.js';
import { findItems } from '../lib/picker.js';
import { RecordPage } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { idOf, Table } from '../lib/table.js';
import { tables } from '../lib/tables.js';
import { Card, Facts, Loading, Page, Picture } from '../lib/ui.js';

/** Finds discounts by name or promo code. @param {string} query @param {AbortSignal} signal @returns {Promise<import('../lib/picker.js').Choice[]>} */
async function findDiscounts(query, signal) {
  const { data } = /** @type {any} */ (await get('/api/discounts', { query, per_page: 8 }, { signal }));
  return data.discounts.map((/** @type {any} */ one) => ({ value: one.id, label: one.name, note: one.code ?? '' }));
}

const LISTS = ['discount_ids', 'nomenclature_ids'];

/** What the API takes: records as numbers. @param {Record<string, any>} values */
const sent = (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, LISTS.includes(name) ? value.map((/** @type {{ id: number }} */ { id }) => id) : value]));

/** @type {import('../lib/record.js').Resource} */
const resource = {
  title: 'promotion.new', removeText: 'promotion.deleteText',
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255, wide: true },
    { name: 'description', kind: 'html', max: 65535 },
    { name: 'photo', kind: 'picture' },
    { name: 'starts_at', kind: 'datetime' },
    { name: 'ends_at', kind: 'datetime' },
    { name: 'discount_ids', kind: 'many', find: findDiscounts, wide: true },
    { name: 'nomenclature_ids', kind: 'many', find: findItems, wide: true, when: () => can('view-nomenclatures') },
  ],
  async read(id, options) {
    const { body: { promotion }, etag } = await read('/api/promotions/{id}', { id }, options);
    return { record: { ...promotion, photo: promotion.photo?.url ?? null, discount_ids: promotion.discounts, nomenclature_ids: promotion.nomenclatures }, etag };
  },
  create: async (values) => (await post('/api/promotions', {}, sent(values))).promotion.id,
  update: (id, changes, options) => put('/api/promotions/{id}', { id }, sent(changes), options),
  remove: (id, options) => remove('/api/promotions/{id}', { id }, options),
};

/** @type {Record<string, (row: import('../lib/table.js').Row) => any>} */
const cells = {
  name: (row) => html`<${Picture} url=${row.photo?.url} size=${28} /> ${row.name}`,
  discounts: (row) => number(row.discounts.length),
  nomenclatures: (row) => number(row.nomenclatures.length),
};

/** @param {{ params: { id?: string } }} props */
export default function Promotions({ params: { id } }) {
  const create = can('create-discounts') && html`<${Link} to="/promotions/new" class="button primary"><${Icon} name="plus" size=${16} />${t('promotion.new')}<//>`;
  if (!id) {
    return html`<${Page} title=${t('nav.promotions')} note=${t('promotion.note')} actions=${create} />
      <${Table} id="promotions" table=${tables.promotions} cells=${cells} to=${(/** @type {import('../lib/table.js').Row} */ row) => `/promotions/${idOf(row)}`}
        empty=${{ icon: 'views', title: t('promotion.none'), text: t('promotion.noneText'), action: create }} />`;
  }
  return html`<${RecordPage} resource=${resource} id=${id} to="/promotions" crumb="nav.promotions" edits=${can(id === 'new' ? 'create-discounts' : 'edit-discounts')}
    view=${(/** @type {any} */ promotion, /** @type {unknown} */ _, /** @type {string | null} */ etag) => ({ title: promotion.name, side: html`<${Use} id=${promotion.id} version=${etag} />` })} />`;
}

/** @param {{ id: number, version: string | null }} props */
function Use({ id, version }) {
  const loaded = useLoad((signal) => get('/api/promotions/{id}/stats', { id }, { signal }), [id, version]);
  return html`<${Card} title=${t('promotion.use')}><${Loading} of=${loaded} lines=${2}>${(/** @type {any} */ { stats }) => html`<${Facts} rows=${[
    [t('nav.discounts'), number(stats.discounts)], [t('promotion.codes'), number(stats.promo_codes)], [t('column.used_count'), number(stats.usages)], [t('column.used_amount'), money(stats.discount_amount)],
  ]} />`}<//><//>`;
}
