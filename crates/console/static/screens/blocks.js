// @ts-check
// Content blocks of an application as a tree.
import { get, post, put, read, remove } from '../lib/api.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad } from '../lib/load.js';
import { Applications, editRecord } from '../lib/record.js';
import { can } from '../lib/session.js';
import { options } from '../lib/tables.js';
import { parentsFor, Tree } from '../lib/tree.js';
import { Card, Empty, Loading, Page } from '../lib/ui.js';

/** @typedef {import('../lib/tree.js').Node} Node */

/** @param {number} application @param {Node[]} nodes @param {number | null} id @returns {import('../lib/record.js').Resource} */
const resource = (application, nodes, id) => ({
  title: 'block.new',
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255 },
    { name: 'block_type_id', kind: 'choice', required: true, options: options.blockTypes },
    { name: 'identifier', kind: 'text', max: 100, hint: t('block.identifierHint') },
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
});

/** All blocks of an application; it has at most 2,000. @param {number} id @param {AbortSignal} signal @returns {Promise<Node[]>} */
async function load(id, signal) {
  const nodes = [];
  for (let page = 1, last = 1; page <= last; page++) {
    const answer = await get('/api/applications/{id}/blocks', { id, page, per_page: 100, order_by: 'code_asc' }, { signal });
    last = answer.pagination.last_page;
    nodes.push(...answer.blocks.map((one) => ({ id: one.id, name: one.name, parent: one.parent?.id ?? null, note: `${one.identifier} · ${one.block_type.name}` })));
  }
  return nodes;
}

export default function Blocks() {
  return html`<${Page} title=${t('nav.blocks')} note=${t('block.note')} />
    <${Applications} base="/blocks">${(/** @type {number} */ id) => html`<${BlockTree} key=${id} application=${id} />`}<//>`;
}

/** @param {{ application: number }} props */
function BlockTree({ application }) {
  const loaded = useLoad((signal) => load(application, signal), [application]);
  const edits = can('edit-blocks');
  const place = (/** @type {number} */ block_id, /** @type {number | null} */ parent) => put('/api/applications/{id}/blocks/{block_id}', { id: application, block_id }, { parent_id: parent });
  return html`<${Loading} of=${loaded}>${(/** @type {Node[]} */ nodes) => {
    const edit = async (/** @type {Node | null} */ node) => {
      if (await editRecord(resource(application, nodes, node?.id ?? null), node ? { id: node.id, name: node.name } : {})) loaded.reload();
    };
    const create = can('create-blocks') && html`<button type="button" class="button primary" onClick=${() => edit(null)}><${Icon} name="plus" size=${16} />${t('block.new')}</button>`;
    return html`<${Card} flush actions=${create} title=${t('nav.blocks')}>
      ${nodes.length === 0 && html`<${Empty} icon="columns" title=${t('block.none')} />`}
      ${nodes.length > 0 && html`<${Tree} nodes=${nodes} label=${t('nav.blocks')} edits=${edits} open=${edit} place=${place} refresh=${loaded.reload} />`}<//>`;
  }}<//>`;
}
