// @ts-check
// One task. `/tasks/new` creates one.
import { post, put, read } from '../lib/api.js';
import { toast } from '../lib/dialog.js';
import { dateTime } from '../lib/format.js';
import { RecordForm } from '../lib/form.js';
import { html, useMemo } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { findCustomers } from '../lib/picker.js';
import { Link, navigate } from '../lib/router.js';
import { can } from '../lib/session.js';
import { options } from '../lib/tables.js';
import { Badge, Card, Facts, Loading, Page } from '../lib/ui.js';
import { TASK } from './tasks.js';

/** @typedef {import('../types/shapes').Answered<'/api/tasks/{id}', 'get'>['task']} Task */

/** @type {import('../lib/form.js').FieldSpec[]} */
const fields = [
  { name: 'title', kind: 'text', required: true, max: 255, wide: true },
  { name: 'description', kind: 'area', max: 65535 },
  { name: 'status_id', kind: 'choice', options: options.taskStatuses },
  { name: 'deadline', kind: 'datetime' },
  { name: 'responsible_id', kind: 'choice', options: options.responsible, when: () => can('view-users') },
  { name: 'counterparty_id', kind: 'picker', find: findCustomers, shown: (value) => `№ ${value}`, when: () => can('view-counterparties') },
  { name: 'order_id', kind: 'number', min: 1 },
];

/** @param {Task} task */
const recordOf = (task) => ({ ...task, status_id: task.status.id, responsible_id: task.responsible?.id ?? null });

const EMPTY = { status_id: TASK.fresh };

/** @param {{ params: { id: string } }} props */
export default function TaskScreen({ params }) {
  return params.id === 'new' ? html`<${NewTask} />` : html`<${OneTask} key=${params.id} id=${Number(params.id)} />`;
}

function NewTask() {
  const save = async (/** @type {Record<string, any>} */ values) => {
    const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
    await post('/api/tasks', {}, filled);
    toast(t('created'));
    await navigate('/tasks', { force: true });
  };
  return html`<${Page} title=${t('do.taskNew')} crumbs=${[{ label: t('nav.tasks'), to: '/tasks' }]} />
    <${Card}><${RecordForm} fields=${fields} record=${EMPTY} save=${save} submit=${t('create')} cancel=${() => navigate('/tasks')} /><//>`;
}

/** @param {{ id: number }} props */
function OneTask({ id }) {
  const loaded = useLoad((signal) => read('/api/tasks/{id}', { id }, { signal }), [id]);
  return html`<${Loading} of=${loaded}>${(/** @type {any} */ { body, etag }) => html`<${TaskView} task=${body.task} etag=${etag} reload=${loaded.reload} />`}<//>`;
}

/** @param {{ task: Task, etag: string | null, reload: () => void }} props */
function TaskView({ task, etag, reload }) {
  const record = useMemo(() => recordOf(task), [task]);
  const save = async (/** @type {Record<string, any>} */ changes, /** @type {any} */ _values, /** @type {string | undefined} */ match) => {
    await put('/api/tasks/{id}', { id: task.id }, changes, match ? { match } : {});
    toast(t('saved'));
    reload();
  };
  const reread = async () => {
    const newer = await read('/api/tasks/{id}', { id: task.id });
    return { record: recordOf(newer.body.task), etag: newer.etag };
  };
  return html`<${Page} title=${task.title} crumbs=${[{ label: t('nav.tasks'), to: '/tasks' }]} badge=${html`<${Badge}>${task.status.name}<//>`} />
    <div class="columns">
      <div><${Card} title=${t('nav.task')}><${RecordForm} fields=${fields} record=${record} etag=${etag} save=${save} reread=${reread} readonly=${!can('edit-tasks')} /><//></div>
      <div><${Card}><${Facts} rows=${[
        [t('column.author'), task.author?.name], [t('column.created_at'), dateTime(task.created_at)], [t('column.closed_at'), dateTime(task.closed_at)],
        task.order_id ? [t('column.order_id'), html`<${Link} to=${`/orders/${task.order_id}`}>№ ${task.order_id}<//>`] : null,
        task.counterparty_id ? [t('column.counterparty_id'), html`<${Link} to=${`/customers/${task.counterparty_id}`}>№ ${task.counterparty_id}<//>`] : null,
      ]} /><//></div>
    </div>`;
}
