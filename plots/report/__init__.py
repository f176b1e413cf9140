"""One self-contained HTML page of everything that result files hold.

page.py puts it together; answer.py is its first screen; embedded.py and tables.py are the data that
it carries and its script (templates/report.js) shows; chapters/ stand below the apps, one file
each.
"""
