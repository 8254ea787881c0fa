// @ts-check
// Subscription plans and the applications that sell them.
import { get, patch, post, read, remove } from '../lib/api.js';
import { money } from '../lib/format.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useLoad } from '../lib/load.js';
import { Applications, editRecord } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { Badge, Card, Empty, Loading, Page } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/applications/{application}/subscription-nomenclatures/catalog', 'get'>} Catalog */
/** @typedef {Catalog['subscriptionNomenclatures'][number]} Plan */

/**
 * The offer of a plan in an application.
 * @param {number} application
 * @param {Plan} plan
 * @returns {import('../lib/record.js').Resource}
 */
const offer = (application, plan) => ({
  title: 'plan.offer',
  fields: [
    { name: 'plan_slug', kind: 'text', max: 64, hint: 'hint.slug' },
    { name: 'position', kind: 'number' },
    { name: 'is_active', kind: 'check' },
  ],
  empty: { is_active: true },
  async read(assignment, options) {
    const { body, etag } = await read('/api/applications/{application}/subscription-nomenclatures/{assignment}', { application, assignment }, options);
    return { record: body.assignment, etag };
  },
  create: async (values) => (await post('/api/applications/{application}/subscription-nomenclatures', { application }, { ...values, nomenclature_id: plan.id })).assignment.id,
  update: (assignment, changes, options) => patch('/api/applications/{application}/subscription-nomenclatures/{assignment}', { application, assignment }, changes, options),
  remove: (assignment, options) => remove('/api/applications/{application}/subscription-nomenclatures/{assignment}', { application, assignment }, options),
});

export default function Plans() {
  const create = can('create-nomenclatures') && html`<${Link} to="/items/new?plan=1" class="button primary"><${Icon} name="plus" size=${16} />${t('plan.new')}<//>`;
  return html`<${Page} title=${t('nav.plans')} note=${t('plan.note')} actions=${create} />
    <${Applications} base="/plans">${(/** @type {number} */ id) => html`<${Offers} key=${id} application=${id} />`}<//>`;
}

/** @param {{ application: number }} props */
function Offers({ application }) {
  const loaded = useLoad((signal) => get('/api/applications/{application}/subscription-nomenclatures/catalog', { application, per_page: 100 }, { signal }), [application]);
  const edit = async (/** @type {Plan} */ plan) => {
    if (await editRecord(offer(application, plan), { id: plan.assignment?.id ?? null, name: plan.name })) loaded.reload();
  };
  return html`<${Card} flush><${Loading} of=${loaded}>${(/** @type {Catalog} */ { subscriptionNomenclatures: plans }) => html`
    ${plans.length === 0 && html`<${Empty} icon="views" title=${t('plan.none')} text=${t('plan.noneText')} />`}
    <ul class="list">${plans.map((plan) => html`<li key=${plan.id}>
      <div class="grow"><${Link} to=${`/items/${plan.id}`}>${plan.name}<//>
        <p class="faint">${t('subscription.every', { sum: money(plan.price), n: plan.billing_period_months ?? 1 })}${plan.assignment && ` · ${plan.assignment.plan_slug}`}</p></div>
      ${plan.assignment ? html`<${Badge} kind=${plan.assignment.is_active ? 'good' : 'plain'}>${t(plan.assignment.is_active ? 'plan.offered' : 'plan.hidden')}<//>` : html`<span class="faint">${t('plan.notOffered')}</span>`}
      ${can('edit-applications') && html`<button type="button" class="button small" aria-label=${`${t(plan.assignment ? 'edit' : 'plan.offer')}: ${plan.name}`} onClick=${() => edit(plan)}>${t(plan.assignment ? 'edit' : 'plan.offer')}</button>`}
    </li>`)}</ul>`}<//><//>`;
}
