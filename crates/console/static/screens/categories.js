// @ts-check
// Categories as a tree: moved by dragging or by keys, edited in a dialog.
import { get, post, put } from '../lib/api.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { forget, useLoad } from '../lib/load.js';
import { ANY, editRecord } from '../lib/record.js';
import { can } from '../lib/session.js';
import { idOf } from '../lib/table.js';
import { parentsFor, Tree } from '../lib/tree.js';
import { Empty, Failure, Page, Skeleton } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/categories', 'get'>['categories'][number]} Category */
/** @typedef {import('../lib/tree.js').Node} Node */

/** One category has no GET of its own; the row of the table has its version. @type {import('../lib/record.js').Resource['read']} */
async function readCategory(id, options) {
  const found = (await get('/api/categories', {}, options)).categories.find((one) => one.id === id);
  const rows = /** @type {any} */ (await get('/api/tables/categories', { query: found?.name, per_page: 100 }, options)).categories;
  const row = rows.find((/** @type {any} */ one) => idOf(one) === id);
  return { record: { ...found, parent_id: found?.parent?.id ?? null }, etag: row ? `"${row.version}"` : '' };
}

/** @param {Node[]} nodes @param {number | null} id @returns {import('../lib/record.js').Resource} */
const resource = (nodes, id) => ({
  title: 'category.new',
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255, wide: true },
    { name: 'parent_id', kind: 'choice', options: async () => parentsFor(nodes, id) },
    { name: 'code', kind: 'number' },
    { name: 'description', kind: 'area', max: 65535 },
  ],
  read: readCategory,
  create: async (values) => (await post('/api/categories', {}, values)).category.id,
  update: (number, changes, options) => put('/api/categories/{id}', { id: number }, changes, options),
});

export default function Categories() {
  const loaded = useLoad((signal) => get('/api/categories', {}, { signal }), []);
  const edits = can('edit-categories');
  const nodes = (loaded.data?.categories ?? []).map((one) => ({ id: one.id, name: one.name, parent: one.parent?.id ?? null, note: one.code }));
  const refresh = () => {
    forget('/api/categories');
    loaded.reload();
  };
  const edit = async (/** @type {Node | null} */ node) => {
    if (await editRecord(resource(nodes, node?.id ?? null), node ? { id: node.id, name: node.name } : {})) refresh();
  };
  useActions(can('create-categories') ? [{ id: 'category-new', label: t('category.new'), icon: 'plus', keys: 'n', run: () => void edit(null) }] : []);
  return html`<${Page} title=${t('nav.categories')} note=${edits && t('category.note')} actions=${can('create-categories') && html`
      <button type="button" class="button primary" onClick=${() => edit(null)}><${Icon} name="plus" size=${16} />${t('category.new')}</button>`} />
    <section class="table-frame">
      ${loaded.error && html`<${Failure} error=${loaded.error} retry=${loaded.reload} />`}
      ${!loaded.data && !loaded.error && html`<${Skeleton} />`}
      ${loaded.data && nodes.length === 0 && html`<${Empty} icon="tree" title=${t('category.none')} text=${t('category.noneText')} />`}
      ${nodes.length > 0 && html`<${Tree} nodes=${nodes} label=${t('nav.categories')} edits=${edits} open=${edit} refresh=${refresh}
        place=${(/** @type {number} */ id, /** @type {number | null} */ parent) => put('/api/categories/{id}', { id }, { parent_id: parent }, ANY)} />`}
    </section>`;
}
