// @ts-check
// Texts of the section `content`: English.

/** @type {import('../../lib/i18n.js').Dictionary} */
export default {
  'page.none': 'No pages yet', 'page.noneText': 'Write one: delivery, returns, about the shop.', 'page.tagsHint': 'Separated by commas',
  'blocks.new': 'New block',
  'blocks.note': 'Texts and banners that an application reads by identifier. Drag a block onto another one, or use Alt with the arrow keys.',
  'menus.new': 'New menu item', 'menus.note': 'Drag an item onto another one, or use Alt with the arrow keys. Enter opens it.',
  'file.note': 'The list has the files of this session. Older files are opened by number.', 'file.upload': 'Upload files',
  'file.uploaded': 'Uploaded', 'file.type': 'Kind of file',
  'file.find': 'Open a file', 'file.number': 'Number of the file', 'file.open': 'Open', 'file.seen': 'Files of this session',
  'file.none': 'No files yet', 'file.deleteText': 'Its address stops working, also where other records use it.',
  'shop.new': 'New shop', 'shop.none': 'No shops yet', 'shop.week': 'Week', 'shop.closed': 'Closed', 'shop.hoursNew': 'Add hours',
  'shop.exceptionNew': 'Special hours', 'shop.holidayNew': 'Holiday',
  'shop.exceptions': 'Special hours', 'shop.holidays': 'Holidays', 'shop.daysNone': 'None', 'shop.yearly': 'every year',
  'shop.openNow': 'Open now', 'shop.closedNow': 'Closed now',
  'shop.nextChange': 'Next change',
  'shop.timeHint': 'Such as 09:00. Midnight at the end is 24:00.', 'shop.closedHint': 'Empty: closed on this day',
  'shop.zoneHint': 'Such as Europe/Moscow. Empty: of the project.',
  'field.content': 'Text', 'field.slug': 'Name in the address', 'field.page_type_id': 'Type', 'field.preview': 'Picture',
  'field.is_fallback': 'Shown for missing pages', 'field.time_zone': 'Time zone', 'field.latitude': 'Latitude',
  'field.longitude': 'Longitude',
  'field.weekday': 'Day', 'field.opens_at': 'Opens', 'field.closes_at': 'Closes', 'field.date': 'Date', 'field.note': 'Note',
  'field.is_yearly': 'Every year', 'field.block_type_id': 'Type', 'field.identifier': 'Identifier', 'field.link': 'Link', 'field.text': 'Text',
  'field.avatar': 'Picture',
  'column.slug': 'Address', 'column.page_type': 'Type', 'column.views_count': 'Views',
  'column.is_fallback': 'For missing pages',
  'search.pages': 'Title or text', 'search.shops': 'Name or address',
  'column.pages.title': 'Title', 'field.hours': 'Hours', 'field.exceptions': 'Special hours', 'field.holidays': 'Holidays',
};
