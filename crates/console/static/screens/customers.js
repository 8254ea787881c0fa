// @ts-check
// Customers as a table.
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { idOf, Table, textOf } from '../lib/table.js';
import { tables } from '../lib/tables.js';
import { Page } from '../lib/ui.js';
import { startExport } from './job.js';

/** @typedef {import('../lib/table.js').Row} Row */

/** Customers without a name are shown by their number. */
const cells = {
  name: (/** @type {Row} */ row) => textOf(row.name) || html`<span class="faint">${t('customer.unnamed')}</span>`,
};

/** @param {Row} row */
const address = (row) => `/customers/${idOf(row)}`;

export default function Customers() {
  const create = can('create-counterparties') && html`<${Link} to="/customers/new" class="button primary"><${Icon} name="plus" size=${16} />${t('do.customerNew')}<//>`;
  const exports = () => void startExport('/api/counterparties/export', t('customer.export'));
  useActions([{ id: 'customers-export', label: t('customer.export'), icon: 'file', run: exports }]);
  return html`<${Page} title=${t('nav.customers')} actions=${html`
      <button type="button" class="button" onClick=${exports}><${Icon} name="file" size=${16} />${t('customer.export')}</button>${create}`} />
    <${Table} id="customers" table=${tables.customers} to=${address} order="created_at_desc" cells=${cells}
      empty=${{ icon: 'customers', title: t('customer.none'), text: t('customer.noneText'), action: create }} />`;
}
