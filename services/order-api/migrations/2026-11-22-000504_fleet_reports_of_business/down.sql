DROP TRIGGER fleet_reports_name_their_business ON fleet_reports;
DROP FUNCTION fleet_reports_name_their_business;
ALTER TABLE fleet_reports DROP COLUMN business_id;
