// @ts-check
// Warehouses with their integrations. `/warehouses/new` creates one.
import { get } from '../lib/api.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { crud } from '../lib/list.js';
import { forget } from '../lib/load.js';
import { RecordPage } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { idOf, Table } from '../lib/table.js';
import { options, tables } from '../lib/tables.js';
import { Page } from '../lib/ui.js';
import { Integrations, warehouseOwner } from './integrations.js';

/** @typedef {import('../types/shapes').Answered<'/api/warehouses/{id}', 'get'>['warehouse']} Warehouse */

const warehouse = crud('/api/warehouses', '/api/warehouses/{id}', 'warehouse', {
  title: 'warehouse.new', removes: '/api/warehouses/{id}',
  shape: (/** @type {Warehouse} */ record) => ({ ...record, branch_id: record.branch.id, application_ids: record.applications.map(({ id }) => id) }),
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255 },
    { name: 'branch_id', kind: 'choice', required: true, options: options.branches, when: () => can('view-branches') },
    { name: 'address', kind: 'text', max: 500, wide: true },
    { name: 'application_ids', kind: 'tags', options: options.applications, when: () => can('view-applications') },
  ],
});

/** @param {{ params: { id?: string } }} props */
export default function Warehouses({ params }) {
  const { id } = params;
  if (id) {
    forget('warehouses');
    return html`<${RecordPage} key=${id} resource=${warehouse} id=${id} to="/warehouses" crumb="nav.warehouses" edits=${can(id === 'new' ? 'create-warehouses' : 'edit-warehouses')}
      view=${(/** @type {any} */ { name }) => ({
        title: name, side: html`<${Integrations} owner=${warehouseOwner(Number(id))} edits=${can('edit-warehouses')} />`,
        history: (/** @type {number} */ page, /** @type {AbortSignal} */ signal) => get('/api/warehouses/{id}/history', { id, page }, { signal }),
      })} />`;
  }
  const create = can('create-warehouses') && can('view-branches') && html`<${Link} to="/warehouses/new" class="button primary"><${Icon} name="plus" size=${16} />${t('warehouse.new')}<//>`;
  return html`<${Page} title=${t('nav.warehouses')} actions=${create} />
    <${Table} id="warehouses" table=${tables.warehouses} order="name_asc" to=${(/** @type {any} */ row) => `/warehouses/${idOf(row)}`} empty=${{ icon: 'stock', title: t('warehouse.none'), action: create }} />`;
}
