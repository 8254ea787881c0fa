// @ts-check
// Texts of the section `catalogue`: English.

/** @type {import('../../lib/i18n.js').Dictionary} */
export default {
  'item.none': 'No items yet',
  'item.noneText': 'Create the first one, or import a spreadsheet.',
  'item.card': 'Card',
  'item.perWarehouse': 'by warehouse',
  'item.photo': 'Photo {n}',
  'item.photoAdd': 'Add photos',
  'item.photoFirst': 'Make photo {n} the first',
  'item.photoRemove': 'Remove photo {n}',
  'item.photoNone': 'No photos',
  'item.stockNone': 'In no warehouse yet',
  'item.stockAdd': 'Add to a warehouse',
  'field.characteristics': 'Characteristics',
  'category.new': 'New category',
  'category.note': 'Drag a category onto another one, or use Alt with the arrow keys. Enter opens it.',
  'category.none': 'No categories yet',
  'category.noneText': 'Categories group items in the shop.',
  'category.top': 'Drop here for the top level',
  'category.moved': '{name} is moved.',
  'brand.new': 'New brand',
  'brand.none': 'No brands yet',
  'brand.items': 'Items',
};
