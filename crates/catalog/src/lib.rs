//! Nomenclature, categories, brands, warehouses and stock.
