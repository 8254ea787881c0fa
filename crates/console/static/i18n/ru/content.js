// @ts-check
// Texts of the section `content`: Russian.

/** @type {import('../../lib/i18n.js').Dictionary} */
export default {
  'page.none': 'Страниц пока нет', 'page.noneText': 'Напишите первую: доставка, возврат, о магазине.', 'page.tagsHint': 'Через запятую',
  'blocks.new': 'Новый блок',
  'blocks.note': 'Тексты и баннеры, которые приложение читает по имени. Перетащите блок на другой или нажмите Alt со стрелками.',
  'menus.new': 'Новый пункт', 'menus.note': 'Перетащите пункт на другой или нажмите Alt со стрелками. Enter открывает.',
  'file.note': 'В списке файлы этого сеанса. Прежние открываются по номеру.', 'file.upload': 'Загрузить файлы', 'file.uploaded': 'Загружено',
  'file.type': 'Вид файла',
  'file.find': 'Открыть файл', 'file.number': 'Номер файла', 'file.open': 'Открыть', 'file.seen': 'Файлы этого сеанса',
  'file.none': 'Файлов пока нет', 'file.deleteText': 'Адрес перестанет работать, в том числе там, где файл используется.',
  'shop.new': 'Новый магазин', 'shop.none': 'Магазинов пока нет', 'shop.week': 'Неделя', 'shop.closed': 'Закрыто',
  'shop.hoursNew': 'Добавить часы', 'shop.exceptionNew': 'Особые часы', 'shop.holidayNew': 'Праздник',
  'shop.exceptions': 'Особые часы', 'shop.holidays': 'Праздники', 'shop.daysNone': 'Нет', 'shop.yearly': 'каждый год',
  'shop.openNow': 'Открыто', 'shop.closedNow': 'Закрыто',
  'shop.nextChange': 'Изменится',
  'shop.timeHint': 'Например, 09:00. Полночь в конце — 24:00.', 'shop.closedHint': 'Пусто: в этот день закрыто',
  'shop.zoneHint': 'Например, Europe/Moscow. Пусто: как в проекте.',
  'field.content': 'Текст', 'field.slug': 'Имя в адресе', 'field.page_type_id': 'Тип', 'field.preview': 'Картинка',
  'field.is_fallback': 'Вместо ненайденных страниц', 'field.time_zone': 'Часовой пояс',
  'field.latitude': 'Широта', 'field.longitude': 'Долгота',
  'field.weekday': 'День', 'field.opens_at': 'Открытие', 'field.closes_at': 'Закрытие', 'field.date': 'Дата', 'field.note': 'Примечание',
  'field.is_yearly': 'Каждый год', 'field.block_type_id': 'Тип', 'field.identifier': 'Имя для приложения', 'field.link': 'Ссылка',
  'field.text': 'Текст', 'field.avatar': 'Картинка',
  'column.slug': 'Адрес', 'column.page_type': 'Тип', 'column.views_count': 'Просмотры',
  'column.is_fallback': 'Вместо ненайденных',
  'search.pages': 'Название или текст', 'search.shops': 'Название или адрес',
  'column.pages.title': 'Название', 'field.hours': 'Часы', 'field.exceptions': 'Особые часы', 'field.holidays': 'Праздники',
};
