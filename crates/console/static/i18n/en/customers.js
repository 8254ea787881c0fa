// @ts-check
// Texts of the section `customers`: English.

/** @type {import('../../lib/i18n.js').Dictionary} */
export default {
  'customer.unnamed': 'no name',
  'customer.export': 'Export customers',
  'customer.none': 'No customers yet',
  'customer.noneText': 'Customers appear with their first login or order.',
  'customer.data': 'Data',
  'customer.contact': 'Contact',
  'customer.contacts': 'More contacts',
  'customer.contactsNone': 'No further contacts.',
  'customer.ordersNone': 'No orders yet',
  'customer.deleteText': 'Personal data is cleared, also in the history. Orders are kept. This cannot be undone.',
  'field.kpp': 'KPP',
  'field.last_name': 'Last name',
  'field.first_name': 'First name',
  'field.middle_name': 'Middle name',
  'field.birthday': 'Birthday',
  'field.phone_1': 'Phone',
  'field.phone_2': 'Second phone',
  'contact.phone': 'Phone',
  'contact.email': 'E-mail',
  'contact.whatsapp': 'WhatsApp',
  'contact.telegram': 'Telegram',
  'contact.max': 'MAX',
  'contact.website': 'Website',
  'contact.other': 'Other',
  'error.counterparty_payment_open': 'A payment of the customer is in progress. Try again when it is done.',
};
