// @ts-check
// Blocks and the menu of an application, as trees.
import { get, post, put, read, remove } from '../lib/api.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { everything, useLoad } from '../lib/load.js';
import { ANY, Applications, editRecord } from '../lib/record.js';
import { place } from '../lib/router.js';
import { can } from '../lib/session.js';
import { idOf, textOf } from '../lib/table.js';
import { options } from '../lib/tables.js';
import { parentsFor, Tree } from '../lib/tree.js';
import { Card, Empty, Loading, Page } from '../lib/ui.js';

/** @typedef {import('../lib/tree.js').Node} Node */
/** @typedef {import('../lib/record.js').Resource} Resource */
/**
 * @typedef {object} Kind
 * @property {string} create permission
 * @property {string} edit permission
 * @property {string} icon
 * @property {(application: number, signal?: AbortSignal) => Promise<Node[]>} load
 * @property {(application: number, nodes: Node[], id: number | null) => Resource} resource
 * @property {(application: number, id: number, way: 'up' | 'down') => Promise<unknown>} [shift]
 */

/** @type {Kind} */
const blocks = {
  create: 'create-blocks', edit: 'edit-blocks', icon: 'columns',
  load: (id, signal) => everything(async (page) => {
    const answer = await get('/api/applications/{id}/blocks', { id, page, per_page: 100, order_by: 'code_asc' }, signal ? { signal } : {});
    return { ...answer, rows: answer.blocks.map((one) => ({ id: one.id, name: one.name, parent: one.parent?.id ?? null, note: `${one.identifier} · ${one.block_type.name}` })) };
  }),
  resource: (application, nodes, id) => ({
    title: 'blocks.new',
    fields: [
      { name: 'name', kind: 'text', required: true, max: 255 },
      { name: 'block_type_id', kind: 'choice', required: true, options: options.blockTypes },
      { name: 'identifier', kind: 'text', max: 100, hint: 'hint.slug' },
      { name: 'parent_id', kind: 'choice', options: async () => parentsFor(nodes, id) },
      { name: 'code', kind: 'number', min: 1 },
      { name: 'link', kind: 'text', max: 500 },
      { name: 'text', kind: 'html', max: 65535 },
      { name: 'avatar', kind: 'picture' },
      { name: 'file', kind: 'text', max: 2048, wide: true },
    ],
    async read(block_id, settings) {
      const { body: { block }, etag } = await read('/api/applications/{id}/blocks/{block_id}', { id: application, block_id }, settings);
      return { record: { ...block, block_type_id: block.block_type.id, parent_id: block.parent?.id ?? null, avatar: block.avatar?.url ?? null, file: block.file?.url ?? null }, etag };
    },
    create: async (values) => (await post('/api/applications/{id}/blocks', { id: application }, values)).block.id,
    update: (block_id, changes, settings) => put('/api/applications/{id}/blocks/{block_id}', { id: application, block_id }, changes, settings),
    remove: (block_id, settings) => remove('/api/applications/{id}/blocks/{block_id}', { id: application, block_id }, settings),
  }),
};

/** @param {number} id @param {Record<string, unknown>} filter @param {AbortSignal} [signal] @returns {Promise<any[]>} */
const itemsOf = (id, filter, signal) => everything(async (page) => {
  const answer = /** @type {any} */ (await get('/api/tables/applications/{id}/menu_items', { id, page, per_page: 100, order_by: 'position_asc', ...filter }, signal ? { signal } : {}));
  return { ...answer, rows: answer.menu_items };
});

/** @type {Kind} */
const menus = {
  create: 'create-applications', edit: 'edit-applications', icon: 'menu',
  // Rows have only the name of their parent. If several items have the name, the children of each are asked for.
  async load(id, signal) {
    const rows = await itemsOf(id, {}, signal);
    /** @type {Map<number, number>} */
    const parents = new Map();
    for (const name of new Set(rows.map((row) => textOf(row.parent)).filter(Boolean))) {
      const several = rows.filter((row) => textOf(row.name) === name).map(idOf);
      for (const parent of several) {
        const children = several.length > 1 ? await itemsOf(id, { parent_id: [parent] }, signal) : rows.filter((row) => textOf(row.parent) === name);
        for (const row of children) parents.set(idOf(row), parent);
      }
    }
    return rows.map((row) => ({ id: idOf(row), name: textOf(row.name), parent: parents.get(idOf(row)) ?? null, note: `/${row.slug}` }));
  },
  resource: (application, nodes, id) => ({
    title: 'menus.new',
    fields: [
      { name: 'name', kind: 'text', required: true, max: 255, wide: true },
      { name: 'slug', kind: 'text', max: 100, hint: 'hint.slug' },
      { name: 'parent_id', kind: 'choice', options: async () => parentsFor(nodes, id) },
      { name: 'code', kind: 'number', min: 1 },
      { name: 'avatar', label: t('menus.icon'), kind: 'picture' },
      { name: 'preview', kind: 'picture' },
    ],
    async read(menu_item_id, settings) {
      const { body: { menuItem }, etag } = await read('/api/applications/{id}/menu_items/{menu_item_id}', { id: application, menu_item_id }, settings);
      return { record: { ...menuItem, parent_id: menuItem.parent?.id ?? null, avatar: menuItem.avatar?.url ?? null, preview: menuItem.preview?.url ?? null }, etag };
    },
    create: async (values) => (await post('/api/applications/{id}/menu_items', { id: application }, values)).menuItem.id,
    update: (menu_item_id, changes, settings) => put('/api/applications/{id}/menu_items/{menu_item_id}', { id: application, menu_item_id }, changes, settings),
    remove: (menu_item_id, settings) => remove('/api/applications/{id}/menu_items/{menu_item_id}', { id: application, menu_item_id }, settings),
  }),
  shift: (id, menu_item_id, way) => post(`/api/applications/{id}/menu_items/{menu_item_id}/${way}`, { id, menu_item_id }),
};

export default function ContentTrees() {
  const name = place.use().path === '/menus' ? 'menus' : 'blocks';
  return html`<${Page} title=${t(`nav.${name}`)} note=${t(name === 'menus' ? 'menus.note' : 'blocks.note')} />
    <${Applications} base=${`/${name}`}>${(/** @type {number} */ id) => html`<${OneTree} key=${id} application=${id} name=${name} kind=${name === 'menus' ? menus : blocks} />`}<//>`;
}

/** @param {{ application: number, name: string, kind: Kind }} props */
function OneTree({ application, name, kind }) {
  const loaded = useLoad((signal) => kind.load(application, signal), [application]);
  return html`<${Loading} of=${loaded}>${(/** @type {Node[]} */ nodes) => {
    const resource = (/** @type {number | null} */ id) => kind.resource(application, nodes, id);
    const edit = async (/** @type {Node | null} */ node) => {
      if (await editRecord(resource(node?.id ?? null), node ? { id: node.id, name: node.name } : {})) loaded.reload();
    };
    const create = can(kind.create) && html`<button type="button" class="button primary" onClick=${() => edit(null)}><${Icon} name="plus" size=${16} />${t('create')}</button>`;
    return html`<${Card} flush actions=${create} title=${t(`nav.${name}`)}>
      ${nodes.length === 0 && html`<${Empty} icon=${kind.icon} title=${t('table.empty')} />`}
      ${nodes.length > 0 && html`<${Tree} nodes=${nodes} label=${t(`nav.${name}`)} edits=${can(kind.edit)} open=${edit} refresh=${loaded.reload}
        place=${(/** @type {number} */ id, /** @type {number | null} */ parent) => resource(id).update(id, { parent_id: parent }, ANY, {})}
        shift=${kind.shift && ((/** @type {number} */ id, /** @type {'up' | 'down'} */ way) => kind.shift?.(application, id, way))} />`}<//>`;
  }}<//>`;
}
