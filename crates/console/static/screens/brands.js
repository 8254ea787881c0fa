// @ts-check
// Brands: a list with search, edited in a dialog.
import { get } from '../lib/api.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { crud, RecordList } from '../lib/list.js';
import { editRecord } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { Picture } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/brands', 'get'>['brands'][number]} Brand */

const brand = crud('/api/brands', '/api/brands/{id}', 'brand', {
  title: 'brand.new',
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255, wide: true },
  ],
});

export default function Brands() {
  return html`<${RecordList} title=${t('nav.brands')} icon="brand" empty=${{ title: t('brand.none') }}
    load=${(/** @type {AbortSignal} */ signal) => get('/api/brands', {}, { signal }).then(({ brands }) => brands)}
    create=${can('create-brands') && { label: t('brand.new'), run: () => editRecord(brand) }}
    edit=${can('edit-brands') && ((/** @type {Brand} */ { id, name }) => editRecord(brand, { id, name }))}
    row=${(/** @type {Brand} */ { id, name, photo }) => html`
      <${Picture} url=${photo?.url} size=${32} />
      <b class="grow ellipsis">${name}</b>
      ${can('view-nomenclatures') && html`<${Link} to=${`/items?brand_id=${id}`}>${t('brand.items')}<//>`}`} />`;
}
