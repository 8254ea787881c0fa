// @ts-check
// Texts of the section `customers`: Russian.

/** @type {import('../../lib/i18n.js').Dictionary} */
export default {
  'customer.unnamed': 'без имени',
  'customer.export': 'Выгрузить покупателей',
  'customer.none': 'Покупателей пока нет',
  'customer.noneText': 'Покупатели появляются с первым входом или заказом.',
  'customer.data': 'Данные',
  'customer.contact': 'Контакт',
  'customer.contacts': 'Другие контакты',
  'customer.contactsNone': 'Других контактов нет.',
  'customer.ordersNone': 'Заказов пока нет',
  'customer.deleteText': 'Личные данные стираются, в том числе из истории. Заказы остаются. Отменить нельзя.',
  'field.kpp': 'КПП',
  'field.last_name': 'Фамилия',
  'field.first_name': 'Имя',
  'field.middle_name': 'Отчество',
  'field.birthday': 'День рождения',
  'field.phone_1': 'Телефон',
  'field.phone_2': 'Второй телефон',
  'contact.phone': 'Телефон',
  'contact.email': 'Эл. почта',
  'contact.whatsapp': 'WhatsApp',
  'contact.telegram': 'Telegram',
  'contact.max': 'MAX',
  'contact.website': 'Сайт',
  'contact.other': 'Другое',
  'error.counterparty_payment_open': 'Идёт платёж покупателя. Повторите, когда он завершится.',
};
