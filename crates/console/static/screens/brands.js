// @ts-check
// Brands: a list with search, edited in a dialog.
import { get, post, put, read } from '../lib/api.js';
import { Dialog, open, toast } from '../lib/dialog.js';
import { RecordForm } from '../lib/form.js';
import { html, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { forget, useLoad } from '../lib/load.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { Card, Empty, Loading, Page, Picture } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/brands', 'get'>['brands'][number]} Brand */

/** @type {import('../lib/form.js').FieldSpec[]} */
const fields = [{ name: 'name', kind: 'text', required: true, max: 255, wide: true }];
const EMPTY = { name: null };

export default function Brands() {
  const loaded = useLoad((signal) => get('/api/brands', {}, { signal }), []);
  const [text, setText] = useState('');
  const edit = async (/** @type {number | null} */ id) => {
    if (!(await open((/** @type {(done: boolean) => void} */ close) => html`<${BrandDialog} id=${id} close=${close} />`))) return;
    forget('/api/brands');
    loaded.reload();
  };
  const create = can('create-brands') && html`<button type="button" class="button primary" onClick=${() => edit(null)}><${Icon} name="plus" size=${16} />${t('brand.new')}</button>`;
  useActions(can('create-brands') ? [{ id: 'brand-new', label: t('brand.new'), icon: 'plus', keys: 'n', run: () => void edit(null) }] : []);
  return html`<${Page} title=${t('nav.brands')} actions=${create} />
    <${Card} flush>
      <${Loading} of=${loaded}>${(/** @type {{ brands: Brand[] }} */ { brands }) => {
        const shown = brands.filter((brand) => brand.name.toLowerCase().includes(text.trim().toLowerCase()));
        return html`<div class="filters"><div class="search-field"><${Icon} name="search" size=${16} />
            <input type="search" data-filter aria-label=${t('table.search')} placeholder=${t('table.search')} value=${text} onInput=${(/** @type {any} */ e) => setText(e.target.value)} /></div></div>
          ${brands.length === 0 && html`<${Empty} icon="brand" title=${t('brand.none')}>${create}<//>`}
          ${brands.length > 0 && shown.length === 0 && html`<${Empty} icon="search" title=${t('table.nothing')} />`}
          <ul class="list">${shown.map((brand) => html`<li key=${brand.id}>
            <${Picture} url=${brand.photo?.url} size=${32} />
            <b class="grow ellipsis">${brand.name}</b>
            ${can('view-nomenclatures') && html`<${Link} to=${`/items?brand_id=${brand.id}`}>${t('brand.items')}<//>`}
            ${can('edit-brands') && html`<button type="button" class="icon-button" aria-label=${`${t('edit')}: ${brand.name}`} onClick=${() => edit(brand.id)}><${Icon} name="edit" size=${16} /></button>`}
          </li>`)}</ul>`;
      }}<//>
    <//>`;
}

/** @param {{ id: number | null, close: (done: boolean) => void }} props */
function BrandDialog({ id, close }) {
  const loaded = useLoad(async (signal) => (id === null ? { record: EMPTY, etag: null } : readBrand(id, signal)), [id]);
  const save = async (/** @type {Record<string, any>} */ changes, /** @type {any} */ _values, /** @type {string | undefined} */ match) => {
    if (id === null) await post('/api/brands', {}, changes);
    else await put('/api/brands/{id}', { id }, changes, match ? { match } : {});
    toast(t(id === null ? 'created' : 'saved'));
    close(true);
  };
  return html`<${Dialog} title=${t(id === null ? 'brand.new' : 'edit')} onClose=${() => close(false)}>
    <${Loading} of=${loaded} lines=${1}>${(/** @type {any} */ { record, etag }) => html`<${RecordForm} fields=${fields} record=${record} etag=${etag} save=${save}
      reread=${() => readBrand(/** @type {number} */ (id))} submit=${t(id === null ? 'create' : 'save')} cancel=${() => close(false)} />`}<//>
  <//>`;
}

/** @param {number} id @param {AbortSignal} [signal] */
async function readBrand(id, signal) {
  const { body, etag } = await read('/api/brands/{id}', { id }, signal ? { signal } : {});
  return { record: body.brand, etag };
}
