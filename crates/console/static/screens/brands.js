// @ts-check
// Brands: a list with search, edited in a dialog.
import { get, post, put, read } from '../lib/api.js';
import { html, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { forget, useLoad } from '../lib/load.js';
import { editRecord } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { Card, Empty, Loading, Page, Picture } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/brands', 'get'>['brands'][number]} Brand */

/** @type {import('../lib/record.js').Resource} */
const resource = {
  title: 'brand.new',
  fields: [{ name: 'name', kind: 'text', required: true, max: 255, wide: true }],
  async read(id, options) {
    const { body, etag } = await read('/api/brands/{id}', { id }, options);
    return { record: body.brand, etag };
  },
  create: async (values) => (await post('/api/brands', {}, values)).brand.id,
  update: (id, changes, options) => put('/api/brands/{id}', { id }, changes, options),
};

export default function Brands() {
  const loaded = useLoad((signal) => get('/api/brands', {}, { signal }), []);
  const [text, setText] = useState('');
  const edit = async (/** @type {Brand | null} */ brand) => {
    if (!await editRecord(resource, { id: brand?.id ?? null, name: brand?.name ?? '' })) return;
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
            ${can('edit-brands') && html`<button type="button" class="icon-button" aria-label=${`${t('edit')}: ${brand.name}`} onClick=${() => edit(brand)}><${Icon} name="edit" size=${16} /></button>`}
          </li>`)}</ul>`;
      }}<//>
    <//>`;
}
