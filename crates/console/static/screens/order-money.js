// @ts-check
// Money of an order: a refund with its preview, and a payment taken by hand.
import { ApiError, post } from '../lib/api.js';
import { Dialog, toast } from '../lib/dialog.js';
import { amount, money } from '../lib/format.js';
import { html, useId, useState } from '../lib/html.js';
import { maybe, t } from '../lib/i18n.js';
import { isAbort } from '../lib/load.js';
import { reason as errorText } from '../lib/ui.js';
import { Preview } from './order-lines.js';

/** @typedef {import('./order.js').Order} Order */

/** @param {{ order: Order, close: (done: boolean) => void }} props */
export function RefundDialog({ order, close }) {
  const [kind, setKind] = useState(/** @type {'everything' | 'lines' | 'amount'} */ ('lines'));
  const [quantities, setQuantities] = useState(/** @type {Record<number, string>} */ ({}));
  const [sum, setSum] = useState('');
  const [delivery, setDelivery] = useState(false);
  const [why, setWhy] = useState('');
  const [restock, setRestock] = useState(true);
  const [busy, setBusy] = useState(false);
  const [errors, setErrors] = useState(/** @type {string[]} */ ([]));
  const id = useId('refund');
  const lines = order.reservations.filter((line) => line.quantity > line.refunded_quantity && line.state !== 'released');
  const chosen = lines.map((line) => ({ id: line.id, quantity: Number(quantities[line.id] ?? 0) })).filter((line) => line.quantity > 0);
  const ready = kind === 'everything' || (kind === 'lines' ? chosen.length > 0 || delivery : Number(amount(sum)) > 0);
  const what = kind === 'everything' ? { everything: true } : kind === 'amount' ? { amount: amount(sum) }
    : { ...(chosen.length ? { lines: chosen } : {}), ...(delivery ? { delivery: true } : {}) };
  const body = { ...what, restock: kind === 'amount' ? false : restock };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!ready || busy) return;
    setBusy(true);
    setErrors([]);
    try {
      await post('/api/orders/{id}/request-refund', { id: order.id }, { ...body, reason: why.trim() });
      toast(t('order.refundDone'));
      close(true);
    } catch (error) {
      if (isAbort(error)) return;
      setErrors(error instanceof ApiError && Object.keys(error.fields).length
        ? Object.entries(error.fields).map(([field, messages]) => `${maybe(`field.${field}`) ?? field}: ${messages.join(', ')}`) : [errorText(error)]);
    }
    setBusy(false);
  };
  return html`<${Dialog} title=${t('order.refund')} wide locked=${busy} onClose=${() => close(false)}>
    <form class="stack" onSubmit=${submit}>
      <div class="row" role="radiogroup" aria-label=${t('order.refundKind')}>${/** @type {const} */ (['lines', 'amount', 'everything']).map((value) => html`<label class="check" key=${value}>
        <input type="radio" name=${id} checked=${kind === value} onChange=${() => setKind(value)} /> ${t(`order.refundKind.${value}`)}</label>`)}</div>
      ${kind === 'lines' && html`<ul class="plain">${lines.map((line) => html`<li key=${line.id} class="row">
          <label class="grow" for=${`${id}-${line.id}`}>${line.nomenclature.name} <span class="faint">${money(line.price)}</span></label>
          <input id=${`${id}-${line.id}`} class="grid-cell" type="number" min="0" max=${line.quantity - line.refunded_quantity} value=${quantities[line.id] ?? ''} placeholder="0"
            onInput=${(/** @type {any} */ e) => setQuantities({ ...quantities, [line.id]: e.target.value })} />
          <span class="faint">/ ${line.quantity - line.refunded_quantity}</span></li>`)}</ul>
        ${Number(order.delivery_price) > 0 && html`<label class="check"><input type="checkbox" checked=${delivery} onChange=${() => setDelivery(!delivery)} /> ${t('order.refundDelivery')} (${money(order.delivery_price)})</label>`}`}
      ${kind === 'amount' && html`<div class="field"><label for=${`${id}-sum`}>${t('field.amount')}</label>
        <input id=${`${id}-sum`} inputmode="decimal" required value=${sum} onInput=${(/** @type {any} */ e) => setSum(e.target.value)} /></div>`}
      ${kind !== 'amount' && html`<label class="check"><input type="checkbox" checked=${restock} onChange=${() => setRestock(!restock)} /> ${t('order.restock')}</label>`}
      <div class="field"><label for=${`${id}-why`}>${t('field.reason')} <span class="faint">*</span></label>
        <input id=${`${id}-why`} required maxlength="250" value=${why} onInput=${(/** @type {any} */ e) => setWhy(e.target.value)} /></div>
      <${Preview} keys=${[body, ready]} ask=${(/** @type {AbortSignal} */ signal) => (ready
        ? post('/api/orders/{id}/request-refund', { id: order.id, dry_run: 1 }, { ...body, reason: why.trim() || '-' }, { signal }) : Promise.resolve(null))} />
      ${errors.length > 0 && html`<div class="form-problem" role="alert">${errors.map((text) => html`<p key=${text}>${text}</p>`)}</div>`}
      <div class="dialog-foot inline"><button type="button" class="button" disabled=${busy} onClick=${() => close(false)}>${t('cancel')}</button>
        <button class="button primary" disabled=${!ready || busy}>${t('order.refundConfirm')}</button></div>
    </form>
  <//>`;
}

/** @param {{ order: Order, close: (done: boolean) => void }} props */
export function PaymentDialog({ order, close }) {
  const [method, setMethod] = useState(/** @type {'cash' | 'terminal'} */ ('cash'));
  const [receipt, setReceipt] = useState('');
  const [error, setError] = useState('');
  const id = useId('payment');
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      await post('/api/orders/{id}/record-payment', { id: order.id }, { method, ...(receipt.trim() ? { receipt: receipt.trim() } : {}) });
      toast(t('order.paymentRecorded'));
      close(true);
    } catch (failure) {
      if (!isAbort(failure)) setError(errorText(failure));
    }
  };
  return html`<${Dialog} title=${t('order.recordPayment')} onClose=${() => close(false)}>
    <form class="stack" onSubmit=${submit}>
      <p>${t('order.paymentText')} <b>${money(order.amount_due)}</b></p>
      <div class="row" role="radiogroup" aria-label=${t('order.method')}>${/** @type {const} */ (['cash', 'terminal']).map((value) => html`<label class="check" key=${value}>
        <input type="radio" name=${id} checked=${method === value} onChange=${() => setMethod(value)} /> ${t(`order.method.${value}`)}</label>`)}</div>
      <div class="field"><label for=${`${id}-receipt`}>${t('order.receipt')}</label>
        <input id=${`${id}-receipt`} maxlength="100" value=${receipt} onInput=${(/** @type {any} */ e) => setReceipt(e.target.value)} /></div>
      ${error && html`<div class="form-problem" role="alert">${error}</div>`}
      <div class="dialog-foot inline"><button type="button" class="button" onClick=${() => close(false)}>${t('cancel')}</button>
        <button class="button primary">${t('order.recordPayment')}</button></div>
    </form>
  <//>`;
}
