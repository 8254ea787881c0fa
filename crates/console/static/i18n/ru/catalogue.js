// @ts-check
// Texts of the section `catalogue`: Russian.

/** @type {import('../../lib/i18n.js').Dictionary} */
export default {
  'item.none': 'Товаров пока нет',
  'item.noneText': 'Создайте первый или загрузите таблицу.',
  'item.card': 'Карточка',
  'item.perWarehouse': 'по складам',
  'item.photo': 'Фото {n}',
  'item.photoAdd': 'Добавить фото',
  'item.photoFirst': 'Сделать фото {n} первым',
  'item.photoRemove': 'Убрать фото {n}',
  'item.photoNone': 'Фото нет',
  'item.stockNone': 'Пока нет ни на одном складе',
  'item.stockAdd': 'Добавить на склад',
  'field.characteristics': 'Характеристики',
  'category.new': 'Новая категория',
  'category.note': 'Перетащите категорию на другую или нажмите Alt со стрелками. Enter открывает.',
  'category.none': 'Категорий пока нет',
  'category.noneText': 'Категории собирают товары в магазине.',
  'category.top': 'Отпустите здесь для верхнего уровня',
  'category.moved': '«{name}» перемещена.',
  'brand.new': 'Новый бренд',
  'brand.none': 'Брендов пока нет',
  'brand.items': 'Товары',
};
