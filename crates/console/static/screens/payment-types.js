// @ts-check
// Payment types of the project: a list with search, edited in a dialog. Applications choose among them.
import { get } from '../lib/api.js';
import { HistoryButton } from '../lib/history.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { crud, RecordList } from '../lib/list.js';
import { editRecord } from '../lib/record.js';
import { can } from '../lib/session.js';
import { Badge, Picture } from '../lib/ui.js';

/** @typedef {import('../types/shapes').Answered<'/api/payment_types', 'get'>['paymentTypes'][number]} PaymentType */

const paymentType = crud('/api/payment_types', '/api/payment_types/{id}', 'paymentType', {
  title: 'paymentType.new',
  shape: (/** @type {PaymentType} */ record) => ({ ...record, photo: record.photo?.url ?? null }),
  fields: [
    { name: 'name', kind: 'text', required: true, max: 255, wide: true },
    { name: 'description', kind: 'text', max: 500, wide: true, hint: 'paymentType.descriptionHint' },
    { name: 'is_online', kind: 'check', wide: true, hint: 'paymentType.onlineHint' },
    { name: 'photo', kind: 'picture' },
  ],
});

export default function PaymentTypes() {
  return html`<${RecordList} title=${t('nav.paymentTypes')} note=${t('paymentType.note')} icon="money" empty=${{ title: t('paymentType.none') }}
    load=${(/** @type {AbortSignal} */ signal) => get('/api/payment_types', {}, { signal }).then(({ paymentTypes }) => paymentTypes)}
    create=${can('create-dictionaries') && { label: t('paymentType.new'), run: () => editRecord(paymentType) }}
    edit=${can('edit-dictionaries') && ((/** @type {PaymentType} */ { id, name }) => editRecord(paymentType, { id, name }))}
    row=${(/** @type {PaymentType} */ { id, name, description, photo, is_online: online }) => html`<${Picture} url=${photo?.url} size=${32} />
      <div class="grow"><b>${name}</b>${online && html` <${Badge} kind="info">${t('field.is_online')}<//>`}<p class="faint">${description}</p></div>
      <${HistoryButton} name=${name} load=${(/** @type {number} */ page, /** @type {AbortSignal} */ signal) => get('/api/payment_types/{id}/history', { id, page }, { signal })} />`} />`;
}
