-- Comment of the employee who corrected a stock level.
ALTER TABLE stock_movements ADD COLUMN comment TEXT;
