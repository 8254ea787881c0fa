// @ts-check
// Stock levels as a table; quantity and price of a row in a dialog.
import { put } from '../lib/api.js';
import { html, useMemo, useState } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { Icon } from '../lib/icons.js';
import { useActions } from '../lib/keys.js';
import { editRecord } from '../lib/record.js';
import { Link } from '../lib/router.js';
import { can } from '../lib/session.js';
import { idOf, Table, textOf } from '../lib/table.js';
import { tables } from '../lib/tables.js';
import { Badge, Page } from '../lib/ui.js';
import { startExport } from './job.js';
import { changePrices } from './price-change.js';
import { resource as level } from './stock-item.js';

/** @typedef {import('../lib/table.js').Row} Row */

/** Available units below this number are marked. */
const LOW = 5;

const cells = {
  available: (/** @type {Row} */ row) => html`<${Badge} kind=${row.available <= 0 ? 'bad' : row.available < LOW ? 'warn' : 'plain'}>${row.available}<//>`,
};

/** @type {import('./price-change.js').Write} */
const write = (row, price, match) => put('/api/inventories/{id}', { id: idOf(row) }, { price }, match ? { match } : {});

export default function Stock() {
  const [round, setRound] = useState(0);
  const edit = async (/** @type {Row} */ row) => {
    if (await editRecord(level, { id: idOf(row), name: `${textOf(row.nomenclature)} · ${textOf(row.warehouse)}` })) setRound((/** @type {number} */ n) => n + 1);
  };
  const actions = useMemo(() => (can('edit-inventories') ? [{ key: 'e', label: t('edit'), icon: 'edit', run: (/** @type {Row} */ row) => void edit(row) }] : []), []);
  const bulk = can('edit-inventories') ? [{ label: t('price.change'), icon: 'money', all: (/** @type {Row[]} */ rows) => void changePrices(rows, write).then(() => setRound((/** @type {number} */ n) => n + 1)) }] : [];
  const exports = () => void startExport('/api/inventories/export', t('stock.export'));
  useActions([{ id: 'stock-export', label: t('stock.export'), icon: 'file', run: exports }]);
  return html`<${Page} title=${t('nav.stock')} actions=${html`
      <button type="button" class="button" onClick=${exports}><${Icon} name="file" size=${16} />${t('stock.export')}</button>
      ${can('edit-inventories') && html`<${Link} to="/import/stock" class="button"><${Icon} name="up" size=${16} />${t('import')}<//>
      <${Link} to="/stock/correct" class="button primary"><${Icon} name="edit" size=${16} />${t('do.correct')}<//>`}`} />
    <${Table} id="stock" table=${tables.stock} to=${(/** @type {Row} */ row) => `/stock/${idOf(row)}`} actions=${actions} bulk=${bulk} cells=${cells} round=${round}
      empty=${{ icon: 'stock', title: t('stock.none'), text: t('stock.noneText') }} />`;
}
