// @ts-check
// Moves of an order along its states, as the order guide lists them: the next step, and what staff may choose.
import { put } from '../lib/api.js';
import { confirm, toast } from '../lib/dialog.js';
import { html } from '../lib/html.js';
import { t } from '../lib/i18n.js';
import { attempt, Badge } from '../lib/ui.js';

/** Order statuses with a fixed meaning. */
export const STATUS = /** @type {const} */ ({ created: 1, unpaid: 2, work: 3, ready: 4, issued: 5, canceled: 6, paid: 22 });

/** The next step of each status. @type {Record<number, number>} */
const NEXT = { [STATUS.created]: STATUS.work, [STATUS.paid]: STATUS.work, [STATUS.work]: STATUS.ready, [STATUS.ready]: STATUS.issued };

/** Steps that staff may choose in each status. @type {Record<number, number[]>} */
const MOVES = {
  [STATUS.created]: [STATUS.work, STATUS.ready, STATUS.issued, STATUS.canceled],
  [STATUS.unpaid]: [STATUS.canceled],
  [STATUS.paid]: [STATUS.work, STATUS.ready, STATUS.issued],
  [STATUS.work]: [STATUS.ready, STATUS.issued, STATUS.canceled],
  [STATUS.ready]: [STATUS.issued, STATUS.canceled],
};

/** @param {number | undefined} status @returns {number | undefined} */
export const nextOf = (status) => (status === undefined ? undefined : NEXT[status]);

/** Moves of an order. One whose money arrived is refunded, not canceled. @param {number} status @param {boolean} paid */
export const movesOf = (status, paid) => (MOVES[status] ?? []).filter((move) => move !== STATUS.canceled || !paid);

/** The name of a move: "Issue". @param {number} status */
export const moveLabel = (status) => t(`order.move.${status}`);

/** Colours of the statuses. @type {Record<number, 'good' | 'warn' | 'bad' | 'info' | 'plain'>} */
const COLOURS = { [STATUS.created]: 'info', [STATUS.unpaid]: 'warn', [STATUS.paid]: 'good', [STATUS.work]: 'info', [STATUS.ready]: 'good', [STATUS.canceled]: 'bad' };

/** @param {{ id: number | undefined, name: string }} props */
export const StatusBadge = ({ id, name }) => html`<${Badge} kind=${id === undefined ? 'plain' : COLOURS[id] ?? 'plain'}>${name}<//>`;

/** Colours of payment states. */
export const PAYMENT = /** @type {Record<string, 'good' | 'warn' | 'bad' | 'plain'>} */ ({
  unpaid: 'warn', pending: 'warn', paid: 'good', partially_refunded: 'plain', refunded: 'bad',
});

/** Writes a status. @param {number} id @param {number} status @param {string} [match] */
export const move = (id, status, match) => put('/api/orders/{id}', { id }, { status_id: status }, match ? { match } : {});

/**
 * Moves an order. Handing over and canceling are asked for: they cannot be taken back.
 * @param {number} id
 * @param {number} status
 * @param {string | undefined} match
 * @param {() => void} done
 */
export async function moveOrder(id, status, match, done) {
  if (status === STATUS.issued || status === STATUS.canceled) {
    const sure = await confirm({
      title: t(`order.ask.${status}`, { id }), text: t(`order.askText.${status}`), confirm: moveLabel(status), danger: status === STATUS.canceled,
    });
    if (!sure) return;
  }
  if (await attempt(() => move(id, status, match))) toast(t(`order.moved.${status}`, { id }));
  done();
}
