// @ts-check
// Texts of the section `today`: English.

/** @type {import('../../lib/i18n.js').Dictionary} */
export default {
  'today.hello': 'Hello, {name}',
  'today.paid': 'Paid, to pack',
  'today.fresh': 'New orders',
  'today.work': 'In processing',
  'today.ready': 'Ready for pickup',
  'today.unpaid': 'Waiting for payment',
  'today.low': 'Low stock levels',
  'today.tasks': 'Open tasks',
  'today.oldest': 'Oldest paid orders',
  'today.oldestNone': 'No paid order waits.',
  'today.mine': 'My tasks',
  'today.mineNone': 'You have no open tasks.',
  'today.scarce': 'Running out',
  'today.scarceNone': 'Every item has enough stock.',
  'today.nothing': 'Nothing to show',
  'today.nothingText': 'Your role has no permissions for orders, stock or tasks.',
};
