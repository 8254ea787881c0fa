// @ts-check
// Departments: groups of employees, for a branch or the whole project.
import { get } from '../lib/api.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { crud, RecordList } from '../lib/list.js';
import { editRecord } from '../lib/record.js';
import { can } from '../lib/session.js';
import { options } from '../lib/tables.js';

/** @typedef {import('../types/shapes').Answered<'/api/departments', 'get'>['departments'][number]} Department */

const department = crud('/api/departments', '/api/departments/{id}', 'department', {
  title: 'department.new', removes: '/api/departments/{id}',
  shape: (/** @type {Department} */ record) => ({ ...record, branch_id: record.branch?.id ?? null }),
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255, wide: true },
    { name: 'description', kind: 'text', max: 500, wide: true },
    { name: 'branch_id', kind: 'choice', options: options.branches, wide: true, when: () => can('view-branches') },
  ],
});

export default function Departments() {
  return html`<${RecordList} title=${t('nav.departments')} icon="tree" empty=${{ title: t('department.none'), text: t('department.noneText') }}
    load=${(/** @type {AbortSignal} */ signal) => get('/api/departments', {}, { signal }).then(({ departments }) => departments)}
    create=${can('create-departments') && { label: t('department.new'), run: () => editRecord(department) }}
    edit=${can('edit-departments') && ((/** @type {Department} */ { id, name }) => editRecord(department, { id, name }))}
    row=${(/** @type {Department} */ { name, description, branch }) => html`<div class="grow"><b>${name}</b>
      <p class="faint">${[branch?.name ?? t('department.whole'), description].filter(Boolean).join(' · ')}</p></div>`} />`;
}
