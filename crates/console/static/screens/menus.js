// @ts-check
// Menu of an application as a tree: moved and ordered by dragging, buttons or keys.
import { get, post, put, remove } from '../lib/api.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad } from '../lib/load.js';
import { Applications, editRecord } from '../lib/record.js';
import { can } from '../lib/session.js';
import { idOf, textOf } from '../lib/table.js';
import { parentsFor, Tree } from '../lib/tree.js';
import { Card, Empty, Loading, Page } from '../lib/ui.js';

/** @typedef {import('../lib/tree.js').Node & { position: number, row: any }} Node `row` is the table's, with its version */

/** @param {number} id @param {Record<string, unknown>} filter @param {AbortSignal} [signal] @returns {Promise<any[]>} */
async function rowsOf(id, filter, signal) {
  const rows = [];
  for (let page = 1, last = 1; page <= last; page++) {
    const answer = /** @type {any} */ (await get('/api/tables/applications/{id}/menu_items', { id, page, per_page: 100, ...filter }, signal ? { signal } : {}));
    last = answer.pagination.last_page;
    rows.push(...answer.menu_items);
  }
  return rows;
}

/** The menu in its order. Rows have only the name of their parent; if several have the name, their children are asked for. @param {number} id @param {AbortSignal} [signal] @returns {Promise<Node[]>} */
async function load(id, signal) {
  const rows = await rowsOf(id, {}, signal);
  /** @type {Map<string, number[]>} */
  const named = new Map();
  for (const row of rows) named.set(textOf(row.name), [...named.get(textOf(row.name)) ?? [], idOf(row)]);
  /** @type {Map<number, number>} */
  const parents = new Map();
  for (const name of new Set(rows.map((row) => textOf(row.parent)).filter(Boolean))) {
    const several = named.get(name) ?? [];
    if (several.length === 1 && several[0]) for (const row of rows) if (textOf(row.parent) === name) parents.set(idOf(row), several[0]);
    if (several.length > 1) for (const parent of several) for (const row of await rowsOf(id, { parent_id: [parent] }, signal)) parents.set(idOf(row), parent);
  }
  return rows.map((row) => ({ id: idOf(row), name: textOf(row.name), parent: parents.get(idOf(row)) ?? null, note: `/${row.slug}`, position: row.position, row })).sort((a, b) => a.position - b.position);
}

/** One item has no GET of its own; the row of the table has its version. @param {number} application @param {Node[]} nodes @param {number | null} id @returns {import('../lib/record.js').Resource} */
const resource = (application, nodes, id) => ({
  title: 'menu.new',
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255, wide: true },
    { name: 'slug', kind: 'text', max: 100, hint: t('page.slugHint') },
    { name: 'parent_id', kind: 'choice', options: async () => parentsFor(nodes, id) },
    { name: 'code', kind: 'number', min: 1 },
  ],
  async read(number, options) {
    const found = (await load(application, options.signal)).find((one) => one.id === number);
    return { record: { ...found?.row, name: found?.name, parent_id: found?.parent ?? null }, etag: found ? `"${found.row.version}"` : '' };
  },
  create: async (values) => (await post('/api/applications/{id}/menu_items', { id: application }, values)).menuItem.id,
  update: (menu_item_id, changes, options) => put('/api/applications/{id}/menu_items/{menu_item_id}', { id: application, menu_item_id }, changes, options),
  remove: (menu_item_id, options) => remove('/api/applications/{id}/menu_items/{menu_item_id}', { id: application, menu_item_id }, options),
});

export default function Menus() {
  return html`<${Page} title=${t('nav.menus')} note=${can('edit-applications') && t('menu.note')} />
    <${Applications} base="/menus">${(/** @type {number} */ id) => html`<${MenuTree} key=${id} application=${id} />`}<//>`;
}

/** @param {{ application: number }} props */
function MenuTree({ application }) {
  const loaded = useLoad((signal) => load(application, signal), [application]);
  const place = (/** @type {number} */ menu_item_id, /** @type {number | null} */ parent) => put('/api/applications/{id}/menu_items/{menu_item_id}', { id: application, menu_item_id }, { parent_id: parent });
  const shift = (/** @type {number} */ menu_item_id, /** @type {'up' | 'down'} */ way) => post(`/api/applications/{id}/menu_items/{menu_item_id}/${way}`, { id: application, menu_item_id });
  return html`<${Loading} of=${loaded}>${(/** @type {Node[]} */ nodes) => {
    const edit = async (/** @type {import('../lib/tree.js').Node | null} */ node) => {
      if (await editRecord(resource(application, nodes, node?.id ?? null), node ? { id: node.id, name: node.name } : {})) loaded.reload();
    };
    const create = can('create-applications') && html`<button type="button" class="button primary" onClick=${() => edit(null)}><${Icon} name="plus" size=${16} />${t('menu.new')}</button>`;
    return html`<${Card} flush actions=${create} title=${t('nav.menus')}>
      ${nodes.length === 0 && html`<${Empty} icon="menu" title=${t('menu.none')} />`}
      ${nodes.length > 0 && html`<${Tree} nodes=${nodes} label=${t('nav.menus')} edits=${can('edit-applications')} open=${edit} place=${place} shift=${shift} refresh=${loaded.reload} />`}<//>`;
  }}<//>`;
}
