DROP TABLE staff_mails;
