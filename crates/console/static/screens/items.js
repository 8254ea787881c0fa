// @ts-check
// Items of the catalogue as a table, and their export.
import { put, send } from '../lib/api.js';
import { html, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { idOf, Table } from '../lib/table.js';
import { tables } from '../lib/tables.js';
import { attempt, download, Page } from '../lib/ui.js';
import { changePrices } from './price-change.js';

/** @typedef {import('../lib/table.js').Row} Row */

/** Goods have no price of their own: it is set per warehouse. */
const cells = {
  price: (/** @type {Row} */ row) => (row.price === null ? html`<span class="faint">${t('item.perWarehouse')}</span>` : null),
};

/** Fetches the spreadsheet of all items. */
const fetchAll = () => attempt(async () => {
  const { blob, name } = await send('POST', '/api/nomenclatures/export', undefined);
  if (blob) download(blob, name ?? 'items.xlsx');
});

/** @type {import('./price-change.js').Write} */
const write = (row, price, match) => put('/api/nomenclatures/{id}', { id: idOf(row) }, { price }, match ? { match } : {});

export default function Items() {
  const [round, setRound] = useState(0);
  const bulk = can('edit-nomenclatures') ? [{ label: t('price.change'), icon: 'money', all: (/** @type {Row[]} */ rows) => void changePrices(rows, write).then(() => setRound((/** @type {number} */ n) => n + 1)) }] : [];
  const create = can('create-nomenclatures') && html`<${Link} to="/items/new" class="button primary"><${Icon} name="plus" size=${16} />${t('do.itemNew')}<//>`;
  useActions([{ id: 'items-export', label: t('item.export'), icon: 'file', run: () => void fetchAll() }]);
  return html`<${Page} title=${t('nav.items')} actions=${html`
      <button type="button" class="button" onClick=${fetchAll}><${Icon} name="file" size=${16} />${t('item.export')}</button>
      ${can('create-nomenclatures') && can('edit-nomenclatures') && html`<${Link} to="/import/items" class="button"><${Icon} name="up" size=${16} />${t('import')}<//>`}${create}`} />
    <${Table} id="items" table=${tables.items} to=${(/** @type {Row} */ row) => `/items/${idOf(row)}`} picture="name" cells=${cells} bulk=${bulk} round=${round}
      empty=${{ icon: 'catalogue', title: t('item.none'), text: t('item.noneText'), action: create }} />`;
}
