// @ts-check
// One item: its card, photos, stock and history. `/items/new` creates one.
import { get, post, put, read } from '../lib/api.js';
import { toast } from '../lib/dialog.js';
import { Drop, upload } from '../lib/drop.js';
import { dateTime, money, number } from '../lib/format.js';
import { RecordForm } from '../lib/form.js';
import { html, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad } from '../lib/load.js';
import { ANY, RecordPage } from '../lib/record.js';
import { Link, place } from '../lib/router.js';
import { can } from '../lib/session.js';
import { options } from '../lib/tables.js';
import { attempt, Card, Empty, Facts, Loading, Picture } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/nomenclatures/{id}', 'get'>['nomenclature']} Item */
/** @typedef {import('../lib/form.js').FieldSpec} FieldSpec */

/** Kind of item: goods. Their price is set per warehouse. */
const GOODS = 2;

/** @type {import('../lib/record.js').Resource} */
const resource = {
  title: 'do.itemNew',
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255, wide: true },
    { name: 'article', kind: 'text', max: 100 },
    { name: 'kind_id', kind: 'choice', required: true, options: options.kinds, hint: 'item.kindHint' },
    { name: 'type_id', kind: 'choice', options: options.types },
    { name: 'price', kind: 'money', when: (values) => values.kind_id !== GOODS },
    { name: 'is_subscription', kind: 'check', when: (values) => values.kind_id !== GOODS },
    { name: 'billing_period_months', kind: 'number', min: 1, required: true, when: (values) => values.kind_id !== GOODS && values.is_subscription },
    { name: 'category_id', kind: 'choice', options: options.categories, when: () => can('view-categories') },
    { name: 'brand_id', kind: 'choice', options: options.brands, when: () => can('view-brands') },
    { name: 'vat_id', kind: 'choice', options: options.vats },
    { name: 'storage_unit_id', kind: 'choice', options: options.units },
    { name: 'country_id', kind: 'choice', options: options.countries },
    { name: 'tags', kind: 'tags', options: options.tags },
    { name: 'description', kind: 'html', max: 65535 },
    { name: 'characteristics', kind: 'html', max: 65535 },
  ],
  empty: { kind_id: GOODS },
  async read(id, settings) {
    const { body: { nomenclature }, etag } = await read('/api/nomenclatures/{id}', { id }, settings);
    return { record: { ...nomenclature, tags: nomenclature.tags.map((tag) => tag.id), item: nomenclature }, etag };
  },
  create: async (values) => (await post('/api/nomenclatures', {}, values)).nomenclature.id,
  update: (id, changes, settings) => put('/api/nomenclatures/{id}', { id }, changes, settings),
};

/** A new subscription plan, a month long. */
const plan = { ...resource, empty: { kind_id: 1, is_subscription: true, billing_period_months: 1 } };

/** @param {{ params: { id: string } }} props */
export default function ItemScreen({ params: { id } }) {
  const edits = can(id === 'new' ? 'create-nomenclatures' : 'edit-nomenclatures');
  return html`<${RecordPage} resource=${place.get().query.has('plan') ? plan : resource} id=${id} to="/items" crumb="nav.items" edits=${edits} card=${t('item.card')}
    view=${(/** @type {{ item: Item }} */ { item }, /** @type {() => void} */ refresh, /** @type {string | null} */ etag) => ({
      title: item.name,
      history: (/** @type {number} */ page, /** @type {AbortSignal} */ signal) => get('/api/nomenclatures/{id}/history', { id, page }, { signal }),
      side: html`<${Photos} item=${item} etag=${etag} edits=${edits} done=${refresh} />
        ${can('view-inventories') && html`<${StockCard} item=${item} />`}
        <${Card}><${Facts} rows=${[[t('column.created_at'), dateTime(item.created_at)], [t('column.updated_at'), dateTime(item.updated_at)]]} /><//>`,
    })} />`;
}

/** Photos: dropped, ordered by buttons, removed. Each change is written at once. @param {{ item: Item, etag: string | null, edits: boolean, done: () => void }} props */
function Photos({ item, etag, edits, done }) {
  const [busy, setBusy] = useState(false);
  const urls = item.photos.map((photo) => photo.url);
  const write = async (/** @type {string[]} */ photos) => {
    setBusy(true);
    const before = urls;
    if (await attempt(() => put('/api/nomenclatures/{id}', { id: item.id }, { photos }, etag ? { match: etag } : {}))) {
      toast(t('saved'), { action: { label: t('undo'), run: () => void attempt(() => put('/api/nomenclatures/{id}', { id: item.id }, { photos: before }, ANY)).then(done) } });
    }
    setBusy(false);
    done();
  };
  const add = async (/** @type {File[]} */ files) => {
    setBusy(true);
    /** @type {string[]} */
    const added = [];
    for (const picture of files) await attempt(async () => void added.push((await upload(picture)).url));
    if (added.length) await write([...urls, ...added]);
    setBusy(false);
  };
  return html`<${Card} title=${t('field.photos')}>
    ${urls.length > 0 && html`<div class="photos" aria-busy=${busy}>${urls.map((url, index) => html`<div class="photo" key=${url}>
      <${Picture} url=${url} alt=${t('item.photo', { n: index + 1 })} size=${112} />
      ${edits && html`<div class="row">
        ${index > 0 && html`<button type="button" class="icon-button" disabled=${busy} aria-label=${t('item.photoFirst', { n: index + 1 })} title=${t('item.photoFirst', { n: index + 1 })}
          onClick=${() => write([url, ...urls.filter((one) => one !== url)])}><${Icon} name="up" size=${16} /></button>`}
        <button type="button" class="icon-button" disabled=${busy} aria-label=${t('item.photoRemove', { n: index + 1 })} title=${t('item.photoRemove', { n: index + 1 })}
          onClick=${() => write(urls.filter((one) => one !== url))}><${Icon} name="trash" size=${16} /></button></div>`}
    </div>`)}</div>`}
    ${edits && can('create-files') ? html`<${Drop} label=${t('item.photoAdd')} accept="image/*" onFiles=${add} />`
      : urls.length === 0 && html`<${Empty} icon="image" title=${t('item.photoNone')} />`}
  <//>`;
}

/** Stock of the item by warehouse. @param {{ item: Item }} props */
function StockCard({ item }) {
  const loaded = useLoad((signal) => get('/api/inventories', { nomenclature_id: [item.id], per_page: 50 }, { signal }), [item.id]);
  return html`<${Card} title=${t('nav.stock')} flush>
    <${Loading} of=${loaded} lines=${2}>${(/** @type {any} */ { inventories }) => html`
      ${inventories.length === 0 && html`<${Empty} icon="stock" title=${t('item.stockNone')} text=${can('create-inventories') ? t('item.stockNoneText') : undefined} />`}
      <ul class="list">${inventories.map((/** @type {any} */ level) => html`<li key=${level.id}>
        <div class="grow"><${Link} to=${`/stock/${level.id}`}>${level.warehouse.name}<//><p class="faint">${t('column.quantity')}: ${number(level.quantity)}, ${t('field.reserved')}: ${number(level.reserved)}, ${t('column.available')}: <b>${number(level.available)}</b></p></div>
        <span>${money(level.price)}</span></li>`)}</ul>
      ${can('create-inventories') && html`<details class="card-body"><summary class="link">${t('item.stockAdd')}</summary>
        <${NewLevel} item=${item} taken=${inventories.map((/** @type {any} */ level) => level.warehouse.id)} done=${loaded.reload} /></details>`}`}<//>
  <//>`;
}

const EMPTY_LEVEL = {};

/** @param {{ item: Item, taken: number[], done: () => void }} props */
function NewLevel({ item, taken, done }) {
  /** @type {FieldSpec[]} */
  const level = [
    { name: 'warehouse_id', kind: 'choice', required: true, wide: true, options: async () => (await options.warehouses()).filter((/** @type {import('../lib/tables.js').Option} */ option) => !taken.includes(Number(option.value))) },
    { name: 'quantity', kind: 'number', required: true },
    { name: 'price', kind: 'money', required: true },
  ];
  const save = async (/** @type {Record<string, any>} */ values) => {
    await post('/api/inventories', {}, { ...values, nomenclature_id: item.id });
    toast(t('created'));
    done();
  };
  return html`<${RecordForm} fields=${level} record=${EMPTY_LEVEL} save=${save} submit=${t('add')} />`;
}
