SELECT current_schema(), current_setting('search_path')
