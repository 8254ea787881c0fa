// @ts-check
// Content pages: the list, and one page with its editor.
import { get, post, put, read, remove } from '../lib/api.js';
import { dateTime, number } from '../lib/format.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { RecordPage } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { idOf, Table } from '../lib/table.js';
import { options, tables } from '../lib/tables.js';
import { Card, Facts, Page } from '../lib/ui.js';

/** Names separated by commas. @param {string | null} text */
const namesOf = (text) => (text ?? '').split(',').map((name) => name.trim()).filter(Boolean);

/** What the API takes: tags as names. @param {Record<string, any>} values */
const sent = (values) => ('tags' in values ? { ...values, tags: namesOf(values.tags) } : values);

/** @type {import('../lib/record.js').Resource} */
const resource = {
  title: 'do.pageNew',
  fields: [
    { name: 'title', kind: 'text', required: true, max: 255, wide: true },
    { name: 'content', kind: 'html', max: 65535, rows: 18, clean: async (content, signal) => (await post('/api/pages/preview', {}, { content }, { signal })).content },
    { name: 'slug', kind: 'text', max: 100, hint: 'hint.slug' },
    { name: 'page_type_id', kind: 'choice', options: options.pageTypes },
    { name: 'tags', kind: 'text', hint: 'page.tagsHint' },
    { name: 'description', kind: 'area', max: 500 },
    { name: 'preview', kind: 'picture' },
    { name: 'is_active', kind: 'check' },
    { name: 'is_fallback', kind: 'check' },
  ],
  empty: { is_active: true },
  async read(id, options) {
    const { body: { page }, etag } = await read('/api/pages/{id}', { id }, options);
    return { record: { ...page, page_type_id: page.page_type?.id ?? null, tags: page.tags.map((tag) => tag.name).join(', ') || null, preview: page.preview?.url ?? null }, etag };
  },
  create: async (values) => (await post('/api/pages', {}, sent(values))).page.id,
  update: (id, changes, options) => put('/api/pages/{id}', { id }, sent(changes), options),
  remove: (id, options) => remove('/api/pages/{id}', { id }, options),
};

/** @param {{ params: { id?: string } }} props */
export default function Pages({ params: { id } }) {
  const create = can('create-pages') && html`<${Link} to="/pages/new" class="button primary"><${Icon} name="plus" size=${16} />${t('do.pageNew')}<//>`;
  if (!id) {
    return html`<${Page} title=${t('nav.pages')} actions=${create} />
      <${Table} id="pages" table=${tables.pages} order="updated_at_desc" to=${(/** @type {import('../lib/table.js').Row} */ row) => `/pages/${idOf(row)}`} picture="title"
        empty=${{ icon: 'edit', title: t('page.none'), text: t('page.noneText'), action: create }} />`;
  }
  return html`<${RecordPage} resource=${resource} id=${id} to="/pages" crumb="nav.pages" edits=${can(id === 'new' ? 'create-pages' : 'edit-pages')} view=${(/** @type {any} */ page) => ({
    title: page.title,
    history: (/** @type {number} */ at, /** @type {AbortSignal} */ signal) => get(/** @type {'/api/pages/{page}/history'} */ (`/api/pages/${id}/history`), { page: at }, { signal }),
    side: html`<${Card}><${Facts} rows=${[
      [t('column.author'), page.author?.name], [t('column.views_count'), number(page.views_count)],
      [t('column.created_at'), dateTime(page.created_at)], [t('column.updated_at'), dateTime(page.updated_at)],
    ]} /><//>`,
  })} />`;
}
