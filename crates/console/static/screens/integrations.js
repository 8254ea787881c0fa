// @ts-check
// Integrations of a bank account or a warehouse: switched on and off, with parameters whose secrets are masked.
import { get, post, put, remove } from '../lib/api.js';
import { confirm, toast } from '../lib/dialog.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { createInDialog } from '../lib/list.js';
import { useLoad } from '../lib/load.js';
import { ANY } from '../lib/record.js';
import { attempt, Badge, Card, Loading } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/warehouses/{id}/integrations', 'get'>['integrations'][number]} Integration */
/** @typedef {import('../types/shapes').Answered<'/api/warehouses/{id}/integrations/{integration_id}/parameters', 'get'>['parameters'][number]} Parameter */
/** @typedef {{ signal: AbortSignal }} Options */
/**
 * @typedef {object} Owner where integrations are read and written
 * @property {(options: Options) => Promise<{ integrations: Integration[] }>} list
 * @property {(integration: number, active: boolean) => Promise<unknown>} set
 * @property {(integration: number, options: Options) => Promise<{ parameters: Parameter[] }>} parameters
 * @property {(integration: number, values: Record<string, any>) => Promise<unknown>} add
 * @property {(integration: number, parameter: number) => Promise<unknown>} drop
 */

/** @param {number} branchId @param {number} bankId @returns {Owner} */
export const accountOwner = (branchId, bankId) => ({
  list: (options) => get('/api/branches/{branchId}/bank_requisites/{bankId}/integrations', { branchId, bankId }, options),
  set: (integrationsId, active) => put('/api/branches/{branchId}/bank_requisites/{bankId}/integrations/{integrationsId}', { branchId, bankId, integrationsId }, { is_active: active }, ANY),
  parameters: (id, options) => get('/api/branches/{branchId}/bank_requisites/{bankId}/integrations/{id}/parameters', { branchId, bankId, id }, options),
  add: (id, values) => post('/api/branches/{branchId}/bank_requisites/{bankId}/integrations/{id}/parameters', { branchId, bankId, id }, values),
  drop: (id, parameterId) => remove('/api/branches/{branchId}/bank_requisites/{bankId}/integrations/{id}/parameters/{parameterId}', { branchId, bankId, id, parameterId }, ANY),
});

/** @param {number} id @returns {Owner} */
export const warehouseOwner = (id) => ({
  list: (options) => get('/api/warehouses/{id}/integrations', { id }, options),
  set: (integration, active) => put('/api/warehouses/{id}/integrations/{integration_id}', { id, integration_id: integration }, { is_active: active }, ANY),
  parameters: (integration, options) => get('/api/warehouses/{id}/integrations/{integration_id}/parameters', { id, integration_id: integration }, options),
  add: (integration, values) => post('/api/warehouses/{id}/integrations/{integration_id}/parameters', { id, integration_id: integration }, values),
  drop: (integration, parameter) => post('/api/warehouses/{id}/integrations/{integration_id}/parameters/{parameter_id}', { id, integration_id: integration, parameter_id: parameter }),
});

/** @returns {import('../lib/form.js').FieldSpec[]} */
const fields = () => [
  { name: 'key', kind: 'text', required: true, max: 100 },
  { name: 'value', label: t('parameter.value'), kind: 'text', required: true, max: 2000 },
  { name: 'is_secret', kind: 'check', wide: true },
];

/** @param {{ owner: Owner, edits: boolean }} props */
export function Integrations({ owner, edits }) {
  const loaded = useLoad(async (signal) => {
    const { integrations } = await owner.list({ signal });
    const parameters = await Promise.all(integrations.map(({ id }) => owner.parameters(id, { signal })));
    return integrations.map((one, index) => ({ ...one, parameters: parameters[index]?.parameters ?? [] }));
  }, []);
  const run = async (/** @type {() => Promise<unknown>} */ work, /** @type {string} */ done) => {
    if (await attempt(work, done)) loaded.reload();
  };
  const add = async (/** @type {Integration} */ one) => {
    const added = await createInDialog({
      title: t('parameter.new'), fields: fields(), empty: { is_secret: true }, create: async (values) => Boolean(await owner.add(one.id, values)),
    });
    if (!added) return;
    toast(t('saved'));
    loaded.reload();
  };
  const drop = async (/** @type {Integration} */ one, /** @type {Parameter} */ { id, key }) => {
    if (!await confirm({ title: t('parameter.deleteAsk', { name: key }), text: t('parameter.deleteText'), confirm: t('delete'), danger: true })) return;
    await run(() => owner.drop(one.id, id), t('deleted'));
  };
  return html`<${Loading} of=${loaded} lines=${3}>${(/** @type {(Integration & { parameters: Parameter[] })[]} */ list) => list.map((one) => html`<${Card} key=${one.id} title=${one.name}
    actions=${html`<${Badge} kind=${one.is_active ? 'good' : 'plain'}>${t(one.is_active ? 'integration.on' : 'integration.off')}<//>
      ${edits && html`<button type="button" class="button small" aria-label=${`${t(one.is_active ? 'integration.disable' : 'integration.enable')}: ${one.name}`}
        onClick=${() => run(() => owner.set(one.id, !one.is_active), t('saved'))}>${t(one.is_active ? 'integration.disable' : 'integration.enable')}</button>`}`}>
    <p class="note">${one.integration_type.name}</p>
    <ul class="plain">${one.parameters.map((parameter) => html`<li key=${parameter.id} class="row">
      <span class="grow"><b>${parameter.key}</b> <code>${parameter.value}</code></span>
      ${edits && html`<button type="button" class="icon-button" aria-label=${`${t('delete')}: ${parameter.key}`} onClick=${() => drop(one, parameter)}><${Icon} name="trash" size=${16} /></button>`}</li>`)}</ul>
    ${edits && html`<p><button type="button" class="link" aria-label=${`${t('parameter.new')}: ${one.name}`} onClick=${() => add(one)}>${t('parameter.new')}</button></p>`}
  <//>`)}<//>`;
}
