DROP TABLE staff_notes, business_contacts;
