// @ts-check
// Applications: web shops and apps of the project. The token of a new one is shown once.
import { get, post } from '../lib/api.js';
import { date } from '../lib/format.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { createInDialog, RecordList, showSecret } from '../lib/list.js';
import { forget } from '../lib/load.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { options } from '../lib/tables.js';
import { Badge } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/applications', 'get'>['applications'][number] & { branch: string }} Application */

/** @type {import('../lib/form.js').FieldSpec[]} */
const fields = [
  { name: 'name', kind: 'text', required: true, max: 255, wide: true },
  { name: 'url', kind: 'text', max: 500, wide: true },
  { name: 'branch_id', kind: 'choice', required: true, options: options.branches },
  { name: 'wholesale', kind: 'check' },
];

/** @param {AbortSignal} signal */
async function load(signal) {
  const [{ applications }, branches] = await Promise.all([get('/api/applications', {}, { signal }), options.branches()]);
  return applications.map((one) => ({ ...one, branch: branches.find(({ value }) => value === one.branch_id)?.label ?? '' }));
}

async function create() {
  const token = await createInDialog({
    title: t('application.new'), fields, create: async (values) => (await post('/api/applications', {}, values)).application.token,
  });
  if (token === null) return false;
  forget('/api/applications');
  return showSecret(t('application.token'), token);
}

export default function Applications() {
  return html`<${RecordList} title=${t('nav.applications')} note=${t('application.note')} icon="key" load=${load}
    empty=${{ title: t('application.none'), text: t('application.noneText') }}
    create=${can('create-applications') && can('view-branches') && { label: t('application.new'), run: create }}
    row=${(/** @type {Application} */ { id, name, url, branch, wholesale, is_active: active, created_at: at }) => html`
      <div class="grow"><b>${name}</b> <${Badge} kind=${active ? 'good' : 'bad'}>${t(active ? 'application.active' : 'application.inactive')}<//>
        ${wholesale && html` <${Badge}>${t('field.wholesale')}<//>`}
        <p class="faint">${[url, branch, `№ ${id}`, date(at)].filter(Boolean).join(' · ')}</p></div>
      ${can('view-webhooks') && html`<${Link} to=${`/webhooks?application=${id}`}>${t('nav.webhooks')}<//>`}`} />`;
}
