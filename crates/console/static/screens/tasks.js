// @ts-check
// Tasks as a table; the next state of a row as one key.
import { put } from '../lib/api.js';
import { toast } from '../lib/dialog.js';
import { html, useMemo, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { idOf, Table } from '../lib/table.js';
import { tables } from '../lib/tables.js';
import { attempt, Page } from '../lib/ui.js';

/** @typedef {import('../lib/table.js').Row} Row */

/** Task statuses with a fixed meaning. */
export const TASK = /** @type {const} */ ({ fresh: 1, work: 2, done: 3, canceled: 4 });

/** Writes a status. @param {number} id @param {number} status @param {string} [match] */
export const setTask = (id, status, match) => put('/api/tasks/{id}', { id }, { status_id: status }, match ? { match } : {});

/** @param {Row} row */
const version = (row) => `"${row.version}"`;

export default function Tasks() {
  const [round, setRound] = useState(0);
  const reload = () => setRound((/** @type {number} */ n) => n + 1);
  const actions = useMemo(() => (can('edit-tasks') ? [{
    key: 'd', label: t('task.done'), icon: 'check', when: (/** @type {Row} */ row) => !row.closed_at,
    run: (/** @type {Row} */ row) => void attempt(() => setTask(idOf(row), TASK.done, version(row))).then((done) => {
      if (done) toast(t('task.closed'), { action: { label: t('undo'), run: () => void attempt(() => setTask(idOf(row), TASK.work)).then(reload) } });
      reload();
    }),
  }] : []), []);
  const bulk = can('edit-tasks') ? [
    { label: t('task.done'), icon: 'check', each: (/** @type {Row} */ row) => setTask(idOf(row), TASK.done, version(row)), undo: (/** @type {Row} */ row) => setTask(idOf(row), TASK.work) },
    { label: t('task.start'), icon: 'clock', each: (/** @type {Row} */ row) => setTask(idOf(row), TASK.work, version(row)) },
  ] : [];
  const create = can('create-tasks') && html`<${Link} to="/tasks/new" class="button primary"><${Icon} name="plus" size=${16} />${t('do.taskNew')}<//>`;
  return html`<${Page} title=${t('nav.tasks')} actions=${create} />
    <${Table} id="tasks" table=${tables.tasks} to=${(/** @type {Row} */ row) => `/tasks/${idOf(row)}`} actions=${actions} bulk=${bulk} round=${round}
      empty=${{ icon: 'tasks', title: t('task.none'), text: t('task.noneText'), action: create }} />`;
}
