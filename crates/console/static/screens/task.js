// @ts-check
// One task. `/tasks/new` creates one.
import { post, put, read } from '../lib/api.js';
import { dateTime } from '../lib/format.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { findCustomers } from '../lib/picker.js';
import { RecordPage } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { options } from '../lib/tables.js';
import { Badge, Card, Facts } from '../lib/ui.js';
import { TASK } from './tasks.js';

/** @typedef {import('../types/shapes').Answered<'/api/tasks/{id}', 'get'>['task']} Task */

/** @type {import('../lib/record.js').Resource} */
const resource = {
  title: 'do.taskNew',
  fields: [
    { name: 'title', kind: 'text', required: true, max: 255, wide: true },
    { name: 'description', kind: 'area', max: 65535 },
    { name: 'status_id', kind: 'choice', options: options.taskStatuses },
    { name: 'deadline', kind: 'datetime' },
    { name: 'responsible_id', kind: 'choice', options: options.responsible, when: () => can('view-users') },
    { name: 'counterparty_id', kind: 'picker', find: findCustomers, shown: (value) => `№ ${value}`, when: () => can('view-counterparties') },
    { name: 'order_id', kind: 'number', min: 1 },
  ],
  empty: { status_id: TASK.fresh },
  async read(id, settings) {
    const { body: { task }, etag } = await read('/api/tasks/{id}', { id }, settings);
    return { record: { ...task, status_id: task.status.id, responsible_id: task.responsible?.id ?? null }, etag };
  },
  create: async (values) => (await post('/api/tasks', {}, values)).task.id,
  update: (id, changes, settings) => put('/api/tasks/{id}', { id }, changes, settings),
};

/** @param {{ params: { id: string } }} props */
export default function TaskScreen({ params }) {
  return html`<${RecordPage} resource=${resource} id=${params.id} to="/tasks" crumb="nav.tasks" edits=${can(params.id === 'new' ? 'create-tasks' : 'edit-tasks')} card=${t('nav.task')} view=${(/** @type {Task} */ task) => ({
    title: task.title, badge: html`<${Badge}>${task.status.name}<//>`,
    side: html`<${Card}><${Facts} rows=${[
      [t('column.author'), task.author?.name], [t('column.created_at'), dateTime(task.created_at)], [t('column.closed_at'), dateTime(task.closed_at)],
      task.order_id ? [t('field.order_id'), html`<${Link} to=${`/orders/${task.order_id}`}>№ ${task.order_id}<//>`] : null,
      task.counterparty_id ? [t('field.counterparty_id'), html`<${Link} to=${`/customers/${task.counterparty_id}`}>№ ${task.counterparty_id}<//>`] : null,
    ]} /><//>`,
  })} />`;
}
