// @ts-check
// Texts of the section `today`: Russian.

/** @type {import('../../lib/i18n.js').Dictionary} */
export default {
  'today.hello': 'Здравствуйте, {name}',
  'today.paid': 'Оплачены, собрать',
  'today.fresh': 'Новые заказы',
  'today.work': 'В работе',
  'today.ready': 'Готовы к выдаче',
  'today.unpaid': 'Ждут оплаты',
  'today.low': 'Мало на складе',
  'today.tasks': 'Открытые задачи',
  'today.oldest': 'Самые давние оплаченные',
  'today.oldestNone': 'Оплаченных заказов не ждёт.',
  'today.mine': 'Мои задачи',
  'today.mineNone': 'У вас нет открытых задач.',
  'today.scarce': 'Заканчивается',
  'today.scarceNone': 'Всех товаров достаточно.',
  'today.nothing': 'Показывать нечего',
  'today.nothingText': 'У вашей роли нет прав на заказы, остатки и задачи.',
};
