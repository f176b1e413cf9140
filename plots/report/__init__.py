"""One self-contained HTML page of everything that result files hold.

page.py puts it together. answer.py is its first screen. embedded.py and tables.py hold what its
script (templates/report.js) shows. Each chapter is a module of chapters/.
"""
