DELETE FROM dictionary_items WHERE dictionary IN (
    'file_types', 'nomenclature_types', 'call_statuses', 'task_statuses', 'page_types', 'block_types', 'integration_types',
    'objects', 'cities'
);
ALTER TABLE nomenclatures DROP COLUMN type_id;
DROP INDEX brands_by_project;
DROP INDEX categories_by_project;
